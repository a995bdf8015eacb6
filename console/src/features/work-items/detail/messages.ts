import { addressOf } from '../../../api/index.ts';
import type { ShownMessage } from '../../../messages/index.ts';
import { workItems as words } from '../../../text/en/work-items.ts';
import type { StoredMessage, WorkItemDetail } from '../types.ts';

type Naming = Pick<
  WorkItemDetail,
  'id' | 'agent' | 'schedule' | 'source' | 'created_by_name' | 'scheduled_for'
>;

const notes = {
  schedule: words.bySchedule,
  trigger: words.byTrigger,
  api: words.byApi,
  person: words.byPerson,
};

/** Returns the author. The first message of a person is what the Work Item was created with. */
const authorOf = (
  { agent, schedule, source, created_by_name, scheduled_for }: Naming,
  { role }: StoredMessage,
  first: boolean,
): Pick<ShownMessage, 'author' | 'note'> => {
  if (role === 'assistant') return { author: agent.name ?? words.deletedAgent };
  if (role === 'tool') return { author: words.tools };
  if (role === 'system') return { author: words.system };
  if (!first) return { author: words.person };
  if (scheduled_for && schedule) {
    return { author: schedule.name ?? words.deletedSchedule, note: notes.schedule };
  }
  return { author: created_by_name ?? words.someone, note: notes[source] };
};

/** The messages of one conversation as they are shown, the oldest first. `complete`: the first one is among them. */
export const toShown = (
  item: Naming,
  stored: readonly StoredMessage[],
  complete: boolean,
): ShownMessage[] => {
  const oldestFirst = stored.toReversed();
  const first = complete ? oldestFirst.find(({ role }) => role === 'user') : undefined;
  return oldestFirst.map((message) => {
    const { id, role, content, created_at, cut, bytes } = message;
    const whole = cut
      ? { bytes, href: addressOf('downloadMessage', { work_item_id: item.id, message_id: id }) }
      : undefined;
    return { id, role, content, created_at, whole, ...authorOf(item, message, message === first) };
  });
};
