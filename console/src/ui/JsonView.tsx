import { useState } from 'react';
import { common } from '../text/en/common.ts';
import { ui } from '../text/en/ui.ts';
import { Bar, Button } from './Button.tsx';
import { CopyButton } from './CopyValue.tsx';
import { downloadText } from './download.ts';
import css from './JsonView.module.css';

/** Most that is shown; the rest can be downloaded. */
const cap = 256_000;

const isBranch = (value: unknown): value is object => typeof value === 'object' && value !== null;

const Leaf = ({ value }: { value: unknown }) => (
  <span className={typeof value === 'string' ? undefined : css.other}>{JSON.stringify(value)}</span>
);

/** A branch of the tree. Those deeper than two are folded, and what is folded is not rendered. */
const Branch = ({ name, value, depth }: { name: string; value: unknown; depth: number }) => {
  const [open, setOpen] = useState(depth < 2);
  if (!isBranch(value)) {
    return (
      <li>
        <span className={css.key}>{name}</span> <Leaf value={value} />
      </li>
    );
  }
  const entries = Object.entries(value);
  return (
    <li>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <span className={css.key}>{name}</span>{' '}
          <span className={css.note}>
            {Array.isArray(value) ? ui.items(entries.length) : ui.entries(entries.length)}
          </span>
        </summary>
        {open && (
          <ul>
            {entries.slice(0, 500).map(([key, each]) => (
              <Branch key={key} name={key} value={each} depth={depth + 1} />
            ))}
          </ul>
        )}
      </details>
    </li>
  );
};

/**
 * JSON as text, and as a tree if the person wants it. At most 256 kB are shown; all of it can be copied and downloaded.
 * `value` may be a text that is shown as it is.
 */
export const JsonView = ({
  value,
  label,
  fileName = 'value.json',
}: {
  value: unknown;
  label: string;
  fileName?: string;
}) => {
  const [tree, setTree] = useState(false);
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? '');
  const long = text.length > cap;
  return (
    <figure className={css.view} aria-label={label}>
      <div className={css.bar}>
        <Bar>
          {isBranch(value) && !long && (
            <Button small kind="quiet" aria-pressed={tree} onClick={() => setTree(!tree)}>
              {tree ? ui.text : ui.tree}
            </Button>
          )}
          {long && (
            <Button small kind="quiet" onClick={() => downloadText(text, fileName)}>
              {common.download}
            </Button>
          )}
          <CopyButton value={text} label={common.copy} small kind="quiet" />
        </Bar>
      </div>
      {tree && isBranch(value) ? (
        <ul className={css.tree}>
          <Branch name={label} value={value} depth={0} />
        </ul>
      ) : (
        <pre tabIndex={0}>{long ? text.slice(0, cap) : text}</pre>
      )}
      {long && <figcaption className={css.note}>{ui.cut(cap, text.length)}</figcaption>}
    </figure>
  );
};
