import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { startCallbackReceiver } from '../../harness/callback-receiver.ts';
import { completion, startEndpoint } from '../../harness/llm-endpoint.ts';
import { startPostgresPair } from '../../harness/postgres-pair.ts';
import { until } from '../../harness/wait.ts';
import { signed } from '../../harness/webhook-sender.ts';
import { nothingDue } from './due.ts';
import { Fixture, must, newLlm } from './fixture.ts';
import { openNats } from './triggers-brokers.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const minute = 60_000;

/** Lets the only consumer of the stream begin again at its first message, as an operator does. */
const moveBack = async (server: string): Promise<void> => {
  const connection = await connect({ servers: server });
  try {
    const manager = await jetstreamManager(connection);
    const [consumer] = await manager.consumers.list('S').next();
    await manager.consumers.delete('S', consumer!.name);
    const { durable_name, ack_policy, ack_wait, max_deliver, max_ack_pending } = consumer!.config;
    const same = { durable_name, ack_policy, ack_wait, max_deliver, max_ack_pending };
    await manager.consumers.add('S', { ...same, deliver_policy: 'all' });
  } finally {
    await connection.close();
  }
};

/**
 * Does one of everything that docs/high-availability.md says a fail-over to an asynchronous standby loses, between the last
 * transaction that the standby has and the fail-over. Resolves to what was acknowledged, and to what there is afterwards.
 */
export const runAsyncStandby = async () => {
  const pair = await startPostgresPair({ max_connections: '150' });
  await using fixture = await Fixture.open('postgres', 2, pair);
  await using receiver = await startCallbackReceiver();
  let replies = 0;
  await using endpoint = await startEndpoint(async () => {
    replies++;
    return { body: completion({ content: 'Done.' }) };
  });
  const broker = await openNats();
  await using ending = new AsyncDisposableStack();
  ending.defer(() => broker.close());
  const env = { EGRESS_ALLOW: '127.0.0.0/8' };
  await Promise.all([fixture.start(0, { env }), fixture.start(1, { env })]);
  const api = fixture.api();
  const processes = fixture.replicas.map(({ process }) => process!);
  const agent = (name: string, fields: object = {}): Promise<Json> =>
    must(api.post('/agents', { name, mode: 'worker', ...fields }));
  const is = (id: string, status: string): Promise<Json> =>
    until(async () => {
      const item: Json = await must(api.get(`/work-items/${id}`));
      return item.status === status && item;
    }, 30_000);

  const scheduled = await agent('scheduled');
  const schedule: Json = await must(
    api.post(`/agents/${scheduled.id}/schedules`, {
      cron_expression: '* * * * *',
      message: 'go',
      payload: { mock: { steps: [{ text: 'Done.' }] } },
      catch_up: true,
    }),
  );
  const hooked = await agent('hooked', { execution: 'external' });
  const hook: Json = await must(
    api.post(`/agents/${hooked.id}/triggers`, {
      name: 'hook',
      kind: 'webhook',
      settings: { scheme: 'standard_webhooks' },
    }),
  );
  const reading = await agent('reading', { execution: 'external' });
  const connection = await must(api.post('/event-connections', { name: 'b', ...broker.connection }));
  const { settings, ...fields } = broker.trigger as { settings: object };
  const reader: Json = await must(
    api.post(`/agents/${reading.id}/triggers`, {
      name: 'reader',
      ...fields,
      settings: { ...settings, connection_id: connection.id },
    }),
  );
  const llm = await newLlm(api, endpoint.url);
  await must(api.post('/prices', { model: 'm', rates: { input: '3', output: '15' } }));
  const paying = await agent('paying', { llm_id: llm.id });
  const reviewing = await agent('reviewing');
  const callbacks = [{ url: `${receiver.url}/cb`, events: ['work_item.completed'] }];
  const review: Json = await must(
    api.post('/work-items', {
      agent_id: reviewing.id,
      message: 'go',
      callbacks,
      payload: { mock: { steps: [{ tool: 'request_review', args: { reason: 'Look' } }, { text: 'Done.' }] } },
    }),
  );
  await is(review.id, 'NEEDS_REVIEW');
  const outside = await agent('outside', { execution: 'external' });
  const finished: Json = await must(
    api.post('/work-items', { agent_id: outside.id, message: 'go', callbacks }),
  );

  const published = async (n: number) => {
    await broker.publish(`{"n":${n}}`);
    await until(async () => (await events(reader.id)).length === n, 30_000, 50);
  };
  const events = (trigger: string) =>
    fixture.inspect((rows) =>
      rows<{ id: string; items: number }>(
        `select e.id, (select count(*)::int from work_items w where w.occurrence_id = e.id) as items
           from trigger_events e where e.trigger_id = '${trigger}'`,
      ),
    );
  const deliver = async (): Promise<{ status: number; entry: string }> => {
    const body = JSON.stringify({ n: 1 });
    const response = await fetch(
      `http://127.0.0.1:${fixture.replicas[0]!.port}${new URL(hook.url).pathname}`,
      { method: 'POST', headers: signed(hook.secret, body, 'event-1') as Record<string, string>, body },
    );
    return { status: response.status, entry: ((await response.json()) as Json).occurrence_id };
  };
  const occurrence = async (): Promise<Json> => {
    const list: Json = await must(
      fixture.api(0, '/app/api').get(`/agents/${scheduled.id}/schedules/${schedule.id}/occurrences?limit=1`),
    );
    return list.data[0];
  };
  const checkpoint = () => api.get('/audits/checkpoint');
  const charged = (): Promise<number> =>
    fixture.inspect(
      async (rows) => (await rows(`select 1 from charges where agent_id = '${paying.id}'`)).length,
    );
  const pay = async (): Promise<string> => {
    const { id }: Json = await must(api.post('/work-items', { agent_id: paying.id, message: 'Go' }));
    await is(id, 'COMPLETED');
    return id;
  };

  await published(1);
  await pay();
  // The log has entries since almost an hour, so the next minute brings its first checkpoint.
  await fixture.moveClock(59 * minute - (fixture.now() % minute) + 30_000);
  await fixture.wake();
  await until(() => nothingDue(fixture), 30_000, 50);
  const claim: Json = await must(
    api.post('/work-items/claim', { agent_ids: [outside.id], lease_seconds: 3_600 }),
  );
  const hadCheckpoint = (await checkpoint()).status;

  await pair.fallBehind();
  await fixture.moveClock(minute);
  await fixture.wake();
  await until(() => nothingDue(fixture), 30_000, 50);
  const fired = await occurrence();
  const key = { 'idempotency-key': randomUUID() };
  const make = () => api.post('/work-items', { agent_id: outside.id, message: 'second' }, { headers: key });
  const made = await make();
  await must(api.post(`/work-items/${review.id}/continue`));
  await is(review.id, 'COMPLETED');
  const finish = () =>
    api.post(`/work-items/${finished.id}/finish`, {
      lease_token: claim.records[0].lease_token,
      outcome: 'COMPLETED',
    });
  const firstFinish = await finish();
  const delivered = await deliver();
  await published(2);
  const paid = await pay();
  const chargedThen = await charged();
  await until(() => [review.id, finished.id].every((id) => receiver.of(id).length === 1), 30_000, 50).catch(
    () => {
      throw new Error(`callbacks: ${firstFinish.text} ${JSON.stringify(receiver.requests)}`);
    },
  );
  await until(async () => (await checkpoint()).status === 200, 60_000, 200);
  // A replica that writes no entries looks for a new checkpoint twice a minute only: what it writes makes it look now.
  for (const i of fixture.replicas.keys()) {
    await must(fixture.api(i).patch('/advanced-settings', { MAX_CONCURRENT_WORK_ITEMS: 9 + i }));
    await until(async () => {
      const { data }: Json = await must(api.get('/audits?limit=1'));
      return data[0].position !== null;
    }, 10_000);
  }

  await pair.failOver({ aliveForMs: 0 });
  await until(async () => (await api.get('/agents?limit=1')).status === 200, 60_000, 50);
  const logs = () => processes.map((one) => one.output()).join('');
  await fixture.wake();
  await until(() => nothingDue(fixture), 30_000, 50);
  const again = await occurrence();
  const gone = await api.get(`/work-items/${made.body.id}`);
  const remade = await make();
  const waiting = await must(api.get(`/work-items/${review.id}`));
  await must(api.post(`/work-items/${review.id}/continue`));
  await is(review.id, 'COMPLETED');
  const held = await must(api.get(`/work-items/${finished.id}`));
  const secondFinish = await finish();
  await until(() => [review.id, finished.id].every((id) => receiver.of(id).length === 2), 30_000, 50).catch(
    () => {},
  );
  // The broker knows the second message as acknowledged, until someone moves the position back.
  const readAfter = (await events(reader.id)).length;
  await must(api.post(`/agents/${reading.id}/triggers/${reader.id}/pause`));
  await moveBack((broker.connection as Json).settings.servers[0]);
  await must(api.post(`/agents/${reading.id}/triggers/${reader.id}/resume`));
  const readAgain = await until(async () => {
    const now = await events(reader.id);
    return now.length === 2 && now;
  }, 30_000).catch(() => events(reader.id));
  const webhookAfter = (await events(hook.id)).length;
  const redelivered = await deliver();
  await until(() => logs().includes('newest checkpoint'), 60_000, 100).catch(() => {});
  const verified = await must(api.get('/audits/verify'));
  const callbacksOf = (id: string) => receiver.of(id).map(({ headers }) => headers['webhook-id']);
  return {
    occurrence: { before: fired, after: again },
    made: { before: made.body.id, gone: gone.status, again: remade.status, after: remade.body.id },
    review: { status: waiting.status, callbacks: callbacksOf(review.id) },
    external: {
      finished: [firstFinish.status, secondFinish.status],
      between: held.status,
      callbacks: callbacksOf(finished.id),
    },
    webhook: {
      statuses: [delivered.status, redelivered.status],
      left: webhookAfter,
      items: (await events(hook.id)).map(({ items }) => items),
    },
    broker: { left: readAfter, items: readAgain.map(({ items }) => items) },
    charges: {
      left: await charged(),
      acknowledged: chargedThen,
      replies,
      paid: (await api.get(`/work-items/${paid}`)).status,
    },
    audit: { before: hadCheckpoint, after: (await checkpoint()).status, ok: verified.ok, log: logs() },
  };
};
