import { useEffect, useState } from 'react';
import { common } from '../text/en/common.ts';
import { Button, IconButton } from './Button.tsx';
import css from './CopyValue.module.css';
import { CheckIcon, CopyIcon } from './icons.tsx';

/** Copies to the clipboard; without permission or TLS through a hidden field. Resolves to whether it worked. */
export const copyText = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = css.area!;
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
};

const useCopy = (value: string): [boolean, () => void] => {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2_000);
    return () => clearTimeout(timer);
  }, [copied]);
  return [copied, () => void copyText(value).then(setCopied)];
};

/** A button that copies: "Copy link", "Copy as curl". It says so when it has, and keeps its width. */
export const CopyButton = ({
  value,
  label,
  small,
  kind,
}: {
  value: string;
  label: string;
  small?: boolean;
  kind?: 'plain' | 'quiet' | 'primary';
}) => {
  const [copied, copy] = useCopy(value);
  return (
    <Button small={small} kind={kind} onClick={copy}>
      <span className={css.stack}>
        <span className={copied ? css.gone : undefined}>{label}</span>
        <span className={copied ? undefined : css.gone} role="status">
          {copied ? common.copied : ''}
        </span>
      </span>
    </Button>
  );
};

/** A value with a small button that copies it. `shown` is a shorter form of it. */
export const CopyValue = ({
  value,
  shown,
  mono = false,
  label = common.copyValue,
}: {
  value: string;
  shown?: string;
  mono?: boolean;
  label?: string;
}) => {
  const [copied, copy] = useCopy(value);
  return (
    <span className={css.value}>
      {mono ? <code>{shown ?? value}</code> : <span>{shown ?? value}</span>}
      <IconButton label={copied ? common.copied : label} onClick={copy} className={css.button}>
        {copied ? <CheckIcon /> : <CopyIcon />}
      </IconButton>
    </span>
  );
};

export const shortId = (id: string): string => `${id.slice(0, 6)}…${id.slice(-3)}`;

/** The first and last characters of an id, enough to tell two apart: `01a1e7…90f`. Copying gives all of it. */
export const ShortId = ({ id }: { id: string }) => <CopyValue value={id} shown={shortId(id)} mono />;
