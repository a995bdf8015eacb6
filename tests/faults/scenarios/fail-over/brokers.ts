import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../harness/wait.ts';
import { must } from '../fixture.ts';
import { type Broker, compare, Publisher } from '../triggers-brokers.ts';
import type { StartLoad } from './load.ts';

/** Messages of a broker that stays: each becomes exactly one Work Item, and further deliveries are counted. */
export const startBroker =
  (name: string, open: () => Promise<Broker>): StartLoad =>
  async (fixture) => {
    const broker = await open();
    const api = fixture.api();
    const agent = await must(api.post('/agents', { name, mode: 'worker', execution: 'external' }));
    const connection = await must(api.post('/event-connections', { name, ...broker.connection }));
    const { settings, ...fields } = broker.trigger as { settings: object };
    const trigger = await must(
      api.post(`/agents/${agent.id}/triggers`, {
        name,
        ...fields,
        settings: { ...settings, connection_id: connection.id },
      }),
    );
    const publisher = new Publisher(broker, 60);
    let figures = {};
    return {
      stop: () => publisher.stop(),
      problems: async (rows) => {
        const ids = await broker.messageIds();
        const stored = async () =>
          (await rows(`select 1 from trigger_events where trigger_id = '${trigger.id}'`)).length;
        await until(async () => (await stored()) >= ids.length, 120_000, 100).catch(() => {});
        // What comes again has come.
        await sleep(1_000);
        const { problems, messages, repeated } = await compare(fixture, ids, trigger.id!);
        figures = { messages, repeated };
        return problems.map((problem) => `${name}: ${problem}`);
      },
      figures: () => ({ [name]: figures }),
      [Symbol.asyncDispose]: () => broker.close(),
    };
  };
