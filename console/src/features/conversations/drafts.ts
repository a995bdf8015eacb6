import type { StreamEvent } from '../../api/index.ts';

/** A reply that is being written, or was just now. */
export interface Draft {
  id: string;
  text: string;
  at: string;
}

/** Returns the replies that are being written, after an event of `GET …/stream`. */
export const applyEvent = (
  drafts: readonly Draft[],
  { event, data }: Pick<StreamEvent, 'event' | 'data'>,
): readonly Draft[] => {
  const { message_id, message_ids, text, at } = data as Record<string, string> & { message_ids?: string[] };
  switch (event) {
    case 'run.started':
      return [];
    case 'run.reset':
      return drafts.filter(({ id }) => !message_ids?.includes(id));
    case 'message.delta':
      return drafts.some(({ id }) => id === message_id)
        ? drafts.map((draft) => (draft.id === message_id ? { ...draft, text: draft.text + text } : draft))
        : [...drafts, { id: message_id!, text: text!, at: at! }];
    default:
      return drafts;
  }
};
