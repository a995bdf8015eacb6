import type { Client } from '../../harness/http.ts';
import { must } from './fixture.ts';

const minute = 60_000;

/**
 * Whether a schedule is due at a minute of the hour, by the meaning of its expression, so that the check does not use
 * the cron engine.
 */
export type Matches = (minuteOfHour: number) => boolean;

const expressions: [text: string, matches: Matches][] = [
  ['* * * * *', () => true],
  ['*/2 * * * *', (m) => m % 2 === 0],
  ['3-59/7 * * * *', (m) => m >= 3 && (m - 3) % 7 === 0],
  ['1,2,5,30-40 * * * *', (m) => [1, 2, 5].includes(m) || (m >= 30 && m <= 40)],
];

type Overlap = 'queue' | 'skip' | 'cancel_previous';

export interface TestSchedule {
  id: string;
  agentId: string;
  catchUp: boolean;
  overlap: Overlap;
  /**
   * Its definitions, oldest first: each holds strictly after its moment, up to and including that of the next; null
   * while paused.
   */
  definitions: { after: number; matches: Matches | null }[];
}

/** Creates a schedule through the API. Its first occurrence is the one in the response. */
export const makeSchedule = async (
  api: Client,
  agentId: string,
  [text, matches]: [string, Matches],
  fields: { catch_up: boolean; overlap?: Overlap; payload?: object },
): Promise<TestSchedule> => {
  const body = { cron_expression: text, message: 'made by a test', ...fields };
  const { id, next_run_at } = await must(api.post(`/agents/${agentId}/schedules`, body));
  const definitions = [{ after: Date.parse(next_run_at!) - 1, matches }];
  return { id: id!, agentId, catchUp: fields.catch_up, overlap: fields.overlap ?? 'queue', definitions };
};

/** The most schedules that an agent may have. */
const ofAnAgent = 20;

/** Creates `count` schedules through the API, 20 for each agent; most are due every minute. Returns them. */
export const makeSchedules = async (
  api: Client,
  count: number,
  settings: Record<string, number> = { max_attempts: 100, max_concurrency: 50 },
  payload: object = {},
  overlapOf: (i: number) => Overlap = () => 'queue',
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
        const fields = { catch_up: i % 3 !== 0, overlap: overlapOf(i), payload };
        made.push(await makeSchedule(api, agent.id!, expression, fields));
      }
    }
  };
  await Promise.all([some(), some(), some(), some()]);
  return made;
};

/** Walks every minute. Returns the nominal times of `schedule` up to `until`, and the one after. */
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
