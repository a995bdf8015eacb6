import type { ReactNode } from 'react';
import {
  type Body,
  methodOf,
  type OperationId,
  type Params,
  type QueryOf,
  urlOf,
} from '../api/operations.ts';
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
 * A curl command for an operation with `$KEY`, in lines that fit. `baseUrl` is the address of the API (`useBaseUrl`);
 * `body` is shown as JSON.
 */
export const curlOf = <O extends OperationId>(
  baseUrl: string,
  operation: O,
  params: Params<O>,
  { body, query, key = '$KEY' }: { body?: Body<O>; query?: QueryOf<O>; key?: string } = {},
): string => {
  const method = methodOf(operation);
  const implied = body === undefined ? 'GET' : 'POST';
  const address = urlOf(baseUrl, operation, params, query);
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
