import pg from 'pg';
import { expect, test } from 'vitest';
import { slackTokens, startSlack } from '../harness/slack.ts';
import { until } from '../harness/wait.ts';
import { Fixture, must } from './scenarios/fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

test('of five replicas four have a connection to Slack, the fifth when one is killed; a click is acknowledged in time', async () => {
  await using slack = await startSlack();
  await using at = await Fixture.open('postgres', 5);
  for (const i of at.replicas.keys()) await at.start(i);
  const api = at.api(4);
  const channel: Json = await must(
    api.post('/channels', {
      ...{ name: 'S', kind: 'slack', conversation: 'C1', api_url: slack.url },
      ...slackTokens,
    }),
  );
  const agent: Json = await must(api.post('/agents', { name: 'A', mode: 'worker', execution: 'external' }));
  const steps = [{ channel_id: channel.id, to: 'channel' }];
  await must(api.post('/routes', { name: 'R', for: 'reviews', steps }));
  const opened = () => slack.calls.filter((method) => method === 'apps.connections.open').length;
  await until(() => slack.sockets.size === 4, 60_000);
  // The youngest replica has looked as well by then: it has no connection.
  await at.inspect((rows) => rows(`select pg_notify('channels', '')`));
  expect(opened()).toBe(4);
  await at.kill(0);
  await until(() => slack.sockets.size === 3);
  await until(() => slack.sockets.size === 4, 60_000);
  expect(opened()).toBe(5);

  const email = 'ada@example.com';
  await at.inspect((rows) =>
    rows(`insert into users (id, issuer, subject, name, role, email, email_verified, last_confirmed_at)
      values (new_id(), 'https://id.example', 'ada', 'Ada', 'builder', '${email}', true, platform_now())`),
  );
  slack.users.set('U1', { id: 'U1', team_id: 'T1', is_email_confirmed: true, profile: { email } });
  const item: Json = await must(api.post('/work-items', { agent_id: agent.id }));
  const claimed: Json = await must(api.post('/work-items/claim', { agent_ids: [agent.id] }));
  await must(
    api.post(`/work-items/${item.id}/finish`, {
      lease_token: claimed.records[0].lease_token,
      outcome: 'NEEDS_REVIEW',
      review: { reason: 'Look.', approvals: [{ kind: 'tool_call', tool_name: 'pay', arguments: {} }] },
    }),
  );
  const message = await until(() => slack.messages[0], 30_000);
  const { review_id }: Json = await must(api.get(`/work-items/${item.id}`));
  const state = async (): Promise<string> => ((await must(api.get(`/reviews/${review_id}`))) as Json).state;
  // The decision waits for a lock: Slack is not left waiting with it.
  const other = new pg.Client({ connectionString: at.databaseUrl! });
  await other.connect();
  await other.query('begin');
  await other.query(`select from reviews where id = '${review_id}' for update`);
  await other.query(`select from work_items where id = '${item.id}' for update`);
  expect(await slack.deliver(slack.payload(message, 'approve', 'U1'), 3_000)).toBe(true);
  expect(await state()).toBe('open');
  await other.query('rollback');
  await other.end();
  await until(async () => (await state()) === 'decided');
}, 240_000);
