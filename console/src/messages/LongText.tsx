import { lazy, Suspense, useState } from 'react';
import { messages as words } from '../text/en/messages.ts';
import { Button, downloadText, Link } from '../ui/index.ts';
import css from './Messages.module.css';
import type { Whole } from './types.ts';
import { WithLinks } from './WithLinks.tsx';

const Formatted = lazy(async () => ({ default: (await import('./Formatted.tsx')).Formatted }));

/** A longer text is shown folded, */
const folded = 4_000;
/** and never more than this: the rest is for a file. */
const most = 64_000;
/**
 * A text of any length that someone else wrote. A long one is folded, and of a very long one the beginning is shown.
 * `whole`: the API sent only the beginning.
 */
export const LongText = ({
  text,
  mono = false,
  formatted = false,
  fileName = 'message.txt',
  whole = null,
  unfolded = false,
}: {
  text: string;
  mono?: boolean;
  /** Draw its Markdown. */
  formatted?: boolean;
  fileName?: string;
  whole?: Whole | null | undefined;
  unfolded?: boolean | undefined;
}) => {
  const [open, setOpen] = useState(unfolded);
  const isLong = text.length > folded * 1.5;
  const shown = text.slice(0, isLong && !open ? folded : most);
  const isCut = whole !== null || text.length > most;
  return (
    <>
      {formatted ? (
        <Suspense fallback={<p className={css.text}>{shown}</p>}>
          <Formatted text={shown} />
        </Suspense>
      ) : mono ? (
        <pre className={css.pre} tabIndex={0}>
          {shown}
        </pre>
      ) : (
        <p className={css.text}>
          <WithLinks text={shown} />
        </p>
      )}
      {(isLong || isCut) && (
        <p className={css.more}>
          {isLong && (
            <Button small aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? words.showLess : words.showAll(Math.min(text.length, most))}
            </Button>
          )}
          {isCut && (
            <>
              <span>{words.cut(Math.min(text.length, shown.length), whole?.bytes ?? text.length)}</span>
              {whole ? (
                <Link href={whole.href} download={fileName} className={css.webLink}>
                  {words.downloadAll}
                </Link>
              ) : (
                <Button small kind="quiet" onClick={() => downloadText(text, fileName, 'text/plain')}>
                  {words.downloadAll}
                </Button>
              )}
            </>
          )}
        </p>
      )}
    </>
  );
};
