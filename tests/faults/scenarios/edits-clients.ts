import { int, pick, type Random } from '../../../packages/cron/tests/random.ts';
import type { ClientResponse } from '../../harness/http.ts';
import type { Change, Deletion } from './edits-verifier.ts';
import { type Fixture, must } from './fixture.ts';
import type { Matches, TestSchedule } from './test-schedules.ts';

const everyMinute: Matches = () => true;
/** Some have the same times in other words. For a PUT these are other times, so what is due is skipped. */
export const expressions: [string, Matches][] = [
  ['* * * * *', everyMinute],
  ['*/1 * * * *', everyMinute],
  ['0-59 * * * *', everyMinute],
  ['*/2 * * * *', (m) => m % 2 === 0],
];

const pathOf = ({ agentId, id }: TestSchedule) => `/agents/${agentId}/schedules/${id}`;

/** What a client can read of a schedule, over either replica. */
export const readOne = (
  fixture: Fixture,
  schedule: TestSchedule,
  random: Random,
): Promise<ClientResponse> => {
  const replica = int(random, 0, 1);
  const [api, app] = [fixture.api(replica), fixture.api(replica, '/app/api')];
  const body = { cron_expression: '* * * * *', count: 5 };
  return pick(random, [
    () => api.get(pathOf(schedule)),
    () => api.get(`/agents/${schedule.agentId}/schedules`),
    () => app.get(`${pathOf(schedule)}/occurrences`),
    () => app.get(`${pathOf(schedule)}/audit`),
    () => app.post('/schedules/preview', body),
  ])();
};

/** Changes `schedule` over either replica, and resolves to the change with its response. */
export const changeOne = async (
  fixture: Fixture,
  schedule: TestSchedule,
  random: Random,
): Promise<Change> => {
  const replica = int(random, 0, 1);
  const [api, app] = [fixture.api(replica), fixture.api(replica, '/app/api')];
  const kind = pick(random, ['put', 'put', 'put', 'pause', 'resume', 'resume'] as const);
  const [text] = pick(random, expressions);
  const requestedAt = fixture.now();
  const response = await (kind === 'put'
    ? api.put(pathOf(schedule), { cron_expression: text, catch_up: schedule.catchUp })
    : app.post(`${pathOf(schedule)}/${kind}`));
  const body = await must(Promise.resolve(response));
  return {
    scheduleId: schedule.id,
    kind,
    revision: Number(response.headers.get('etag')!.replaceAll('"', '')),
    expression: body.cron_expression as unknown as string,
    enabled: body.enabled as unknown as boolean,
    requestedAt,
    respondedAt: fixture.now(),
  };
};

/** Deletes `schedule` over either replica. */
export const remove = async (fixture: Fixture, schedule: TestSchedule, random: Random): Promise<Deletion> => {
  const requestedAt = fixture.now();
  await must(fixture.api(int(random, 0, 1)).delete(pathOf(schedule)));
  return { schedule, requestedAt, respondedAt: fixture.now() };
};
