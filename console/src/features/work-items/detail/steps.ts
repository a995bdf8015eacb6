import { anchorOf } from '../../../messages/index.ts';
import { to } from '../../../routing/to.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import type { Step as Drawn } from '../../../ui/index.ts';
import type { Step } from '../types.ts';

const nameOf = ({ kind, name, attempt, model }: Step): string => {
  if (kind === 'attempt') return words.attempt(attempt);
  if (kind === 'review') return words.reviewWait;
  if (kind === 'wait') return words.retryWait;
  return kind === 'model' ? (model ?? name) : name;
};

const count = (tokens: Step['tokens'], name: string): number => Number(tokens?.[name] ?? 0);

const noteOf = (step: Step, now: number): string => {
  const { kind, tokens, status, error, started_at, ended_at } = step;
  const took = (ended_at ? Date.parse(ended_at) : now) - Date.parse(started_at);
  if (!ended_at) return words.soFar(took);
  if (status === 'error') return words.stepFailed(took, error ?? '');
  if (kind === 'attempt') return '';
  if (kind === 'model' && tokens) {
    return words.stepTokens(count(tokens, 'input_tokens'), count(tokens, 'output_tokens'));
  }
  return words.took(took);
};

/** The steps as the waterfall draws them, from the start of the first one. `now` is for those that have not ended. */
export const toDrawn = (workItemId: string, steps: readonly Step[], now = Date.now()): Drawn[] => {
  const begin = Math.min(...steps.map(({ started_at }) => Date.parse(started_at)));
  return steps.map((step): Drawn => {
    const { seq, kind, started_at, ended_at, status, parent, message_id } = step;
    const waits = kind === 'wait' || kind === 'review';
    return {
      id: `step-${seq}`,
      name: nameOf(step),
      kind,
      from: Date.parse(started_at) - begin,
      // A long wait would leave no room for the rest: it is drawn short, and says how long it is.
      to: ended_at || !waits ? (ended_at ? Date.parse(ended_at) : now) - begin : null,
      failed: status === 'error' && kind !== 'attempt',
      note: noteOf(step, now),
      depth: parent !== null || waits ? 1 : 0,
      ...(message_id
        ? { href: to('/work-items/$workItemId', { workItemId }, { tab: 'timeline' }, anchorOf(message_id)) }
        : {}),
    };
  });
};
