import { useSyncExternalStore } from 'react';
import { readPreference, subscribePreferences, writePreference } from '../base/preferences.ts';
import { messages as words } from '../text/en/messages.ts';
import { Button } from '../ui/index.ts';

const key = 'formatted';

/** True if this browser draws the Markdown of messages. Text comes first. */
export const useFormatting = (): boolean =>
  useSyncExternalStore(subscribePreferences, () => readPreference(key) === '1');

export const looksFormatted = (text: string): boolean =>
  /(^|\n)\s{0,3}(#{1,6} |[-*+] |\d{1,9}[.)] |> |```|\|.*\|)|\*\*[^*\n]+\*\*|`[^`\n]+`|\]\(https?:/.test(
    text.slice(0, 20_000),
  );

/** Switches between the text as it was written and its formatting, for all messages. */
export const FormatButton = () => {
  const on = useFormatting();
  return (
    <Button small kind="quiet" aria-pressed={on} onClick={() => writePreference(key, on ? null : '1')}>
      {words.formatted}
    </Button>
  );
};
