import type { TrialMessage } from '../../api/types.gen.ts';
import type { ShownMessage } from '../../messages/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';

type Message = Pick<TrialMessage, 'role' | 'content'>;

const authors = {
  assistant: words.agentReply,
  user: words.person,
  tool: words.tools,
  system: words.system,
} as const;

/** Recorded messages as they are shown. `prefix` makes their ids unique in the page. */
export const toShown = (messages: readonly Message[], prefix: string): ShownMessage[] =>
  messages.map(({ role, content }, index) => ({
    id: `${prefix}-${index}`,
    role,
    content,
    created_at: null,
    author: authors[role],
  }));

/** A transcript in steps: what came before the first reply, then each reply with its results and what people said. */
export const stepsOf = (messages: readonly Message[]): Message[][] => {
  const steps: Message[][] = [[]];
  for (const message of messages) {
    if (message.role === 'assistant') steps.push([]);
    steps.at(-1)!.push(message);
  }
  return steps;
};

/** Returns the text by which two steps are compared, without ids of calls and without instructions. */
export const contentOf = (step: readonly Message[] | undefined): string =>
  JSON.stringify(
    (step ?? [])
      .filter(({ role }) => role !== 'system')
      .map(({ role, content }) => [role, content.map((part) => ({ ...part, tool_call_id: undefined }))]),
  );
