import type { PublicTrigger } from '../../../api/types.gen.ts';
import { triggers as words } from '../../../text/en/triggers.ts';
import { workItems } from '../../../text/en/work-items.ts';

const statusWord = (status: string): string =>
  workItems.status[status as keyof typeof workItems.status] ?? status;

/** From where the events of a trigger come, or what it waits for. */
export const placeOf = ({ kind, settings }: Pick<PublicTrigger, 'kind' | 'settings'>): string | undefined => {
  const { scheme, statuses, window_seconds } = settings;
  if (kind === 'webhook') return scheme && words.schemes[scheme];
  if (kind === 'work_item') return words.joined((statuses ?? []).map(statusWord));
  if (window_seconds !== undefined) return words.missingFor(window_seconds);
  return settings.stream ?? settings.topic;
};
