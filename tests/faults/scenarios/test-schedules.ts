import type { Client } from '../../harness/http.ts';
import { must } from './fixture.ts';

const minute = 60_000;

/** Whether a schedule is due at a minute of the hour: what its expression means, so that the cron engine has no part in the account. */
export type Matches = (minuteOfHour: number) => boolean;

const expressions: [text: string, matches: Matches][] = [
  ['* * * * *', () => true],
  ['*/2 * * * *', (m) => m % 2 === 0],
  ['3-59/7 * * * *', (m) => m >= 3 && (m - 3) % 7 === 0],
  ['1,2,5,30-40 * * * *', (m) => [1, 2, 5].includes(m) || (m >= 30 && m <= 40)],
];

export interface TestSchedule {
  id: string;
  agentId: string;
  catchUp: boolean;
  /** When it was due, oldest first: each holds strictly after its moment, up to and with that of the next; null while paused. */
  definitions: { after: number; matches: Matches | null }[];
}

/** Makes a schedule through the API. Its first occurrence is what the API answered. */
export const makeSchedule = async (
  api: Client,
  agentId: string,
  [text, matches]: [string, Matches],
  fields: { catch_up: boolean; payload?: object },
): Promise<TestSchedule> => {
  const body = { cron_expression: text, message: 'made by a test', ...fields };
  const { id, next_run_at } = await must(api.post(`/agents/${agentId}/schedules`, body));
  const definitions = [{ after: Date.parse(next_run_at!) - 1, matches }];
  return { id: id!, agentId, catchUp: fields.catch_up, definitions };
};

/** The most that an agent may have. */
const ofAnAgent = 20;

/** Makes `count` schedules through the API, 20 an agent; most are due every minute. Answers them. */
export const makeSchedules = async (
  api: Client,
  count: number,
  settings: Record<string, number> = { max_attempts: 100, max_concurrency: 50 },
  payload: object = {},
): Promise<TestSchedule[]> => {
  const made: TestSchedule[] = [];
  let begun = 0;
  const some = async (): Promise<void> => {
    while (begun < count) {
      const [first, end] = [begun, Math.min(count, begun + ofAnAgent)];
      begun = end;
      const agent = await must(api.post('/agents', { name: `Agent ${first}`, mode: 'worker', settings }));
      for (let i = first; i < end; i++) {
        const expression = expressions[i % 8 < 5 ? 0 : (i % 8) - 4]!;
        made.push(await makeSchedule(api, agent.id!, expression, { catch_up: i % 3 !== 0, payload }));
      }
    }
  };
  await Promise.all([some(), some(), some(), some()]);
  return made;
};

/** Every minute walked: the nominal times of `schedule` up to `until`, and the one after. */
export const nominalTimes = (
  { definitions }: TestSchedule,
  until: number,
): { due: number[]; next: number | null } => {
  const due: number[] = [];
  for (const [k, { after, matches }] of definitions.entries()) {
    const last = k === definitions.length - 1;
    const end = last ? Number.POSITIVE_INFINITY : Math.min(until, definitions[k + 1]!.after);
    for (let at = (Math.floor(after / minute) + 1) * minute; matches && at <= end; at += minute) {
      if (!matches(new Date(at).getUTCMinutes())) continue;
      if (at > until) return { due, next: at };
      due.push(at);
    }
  }
  return { due, next: null };
};
