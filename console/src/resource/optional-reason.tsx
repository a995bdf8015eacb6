import { type ReactNode, useState } from 'react';
import { common } from '../text/en/common.ts';
import { Textarea } from '../ui/index.ts';

/** The reason that a dialog asks for, which may be left empty. */
export interface OptionalReason {
  field: ReactNode;
  /** For the body of the request: nothing if it is empty. */
  given: { reason?: string };
  isGiven: boolean;
  clear(): void;
}

export const useOptionalReason = (hint: string): OptionalReason => {
  const [text, setText] = useState('');
  const reason = text.trim();
  const isGiven = reason !== '';
  return {
    field: <Textarea label={common.reason} value={text} onChange={setText} hint={hint} rows={2} autoFocus />,
    given: isGiven ? { reason } : {},
    isGiven,
    clear: () => setText(''),
  };
};
