import { type ReactNode, useState } from 'react';
import { common } from '../text/en/common.ts';
import { Textarea } from '../ui/index.ts';

/** A text that a dialog asks for, which may be left empty. */
interface OptionalText {
  field: ReactNode;
  /** Without spaces around it. */
  text: string;
  isGiven: boolean;
  clear(): void;
}

export const useOptionalText = (label: string, hint: string): OptionalText => {
  const [value, setValue] = useState('');
  const text = value.trim();
  return {
    field: <Textarea label={label} value={value} onChange={setValue} hint={hint} rows={2} autoFocus />,
    text,
    isGiven: text !== '',
    clear: () => setValue(''),
  };
};

/** The same for a reason. */
export interface OptionalReason extends OptionalText {
  /** For the body of the request: nothing if it is empty. */
  given: { reason?: string };
}

export const useOptionalReason = (hint: string): OptionalReason => {
  const reason = useOptionalText(common.reason, hint);
  return { ...reason, given: reason.isGiven ? { reason: reason.text } : {} };
};
