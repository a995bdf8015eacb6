import type { ReactNode } from 'react';
import { common } from '../text/en/common.ts';
import css from './CodeBlock.module.css';
import { CopyButton } from './CopyValue.tsx';

/** A command or a text that is code, with a button that copies it. */
export const CodeBlock = ({ code, label, aside }: { code: string; label: string; aside?: ReactNode }) => (
  <figure className={css.block} aria-label={label}>
    <pre tabIndex={0}>{code}</pre>
    <div className={css.aside}>
      {aside}
      <CopyButton value={code} label={common.copy} small />
    </div>
  </figure>
);

/**
 * A curl command for the API with `$KEY`, in lines that fit. `baseUrl` is the address of the API (`useBaseUrl`), and
 * `path` is below it: `/agents`. A path that begins with `/api/v2` is the same. `body` is shown as JSON.
 */
export const curlOf = (
  baseUrl: string,
  method: string,
  path: string,
  body?: unknown,
  key = '$KEY',
): string => {
  const implied = body === undefined ? 'GET' : 'POST';
  const address = `${baseUrl}${path.replace(/^\/api\/v2(?=\/)/, '')}`;
  // The shell takes `?` and `&` for its own.
  const quoted = /[?&]/.test(address) ? `'${address}'` : address;
  const lines = [
    `curl ${method === implied ? '' : `-X ${method} `}${quoted} -H "Authorization: Bearer ${key}"`,
  ];
  if (body !== undefined) {
    lines.push(`-H "Content-Type: application/json" -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  }
  return lines.join(' \\\n  ');
};
