import { expect, it } from 'vitest';
import { onPostgres } from '../../tests/harness/database.ts';
import { makeAgent } from '../../tests/harness/work-items.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { silentLogger } from '../lib/log.ts';
import { AgentSpans } from './agent-spans.ts';

onPostgres((_name, open) => {
  const spans = () => new AgentSpans({ db: open(), log: silentLogger });
  const at = async (agent: string): Promise<Date | undefined> => {
    const { rows } = await open().run((executor) =>
      sql<{ at: Date }>`select last_span_at as at from agent_spans where agent_id = ${agent}`.execute(
        executor,
      ),
    );
    return rows[0]?.at;
  };
  const see = async (one: AgentSpans, agents: (string | null)[]) => {
    one.seen(agents);
    await one.write();
  };

  it('writes when spans of an agent came in, once a minute whichever replica receives them', async () => {
    const [a, b] = [await makeAgent(open()), await makeAgent(open())];
    const one = spans();
    await see(one, [null, a]);
    const first = await at(a);
    expect(first).toBeInstanceOf(Date);
    expect(await at(b)).toBeUndefined();
    await see(spans(), [a, b]);
    expect(await at(a)).toEqual(first);
    expect(await at(b)).toBeInstanceOf(Date);
    const old = new Date(Date.now() - 90_000);
    await open().tx((tx) => sql`update agent_spans set last_span_at = ${old}`.execute(tx));
    // It wrote less than a minute ago, and does not ask the database again.
    await see(one, [a]);
    expect(await at(a)).toEqual(old);
    await see(spans(), [a]);
    expect((await at(a))!.getTime()).toBeGreaterThan(old.getTime() + 60_000);
  });

  it('what no agent is named is passed over', async () => {
    const agent = await makeAgent(open());
    await see(spans(), [newId(), 'not-an-id', '', agent]);
    expect(await at(agent)).toBeInstanceOf(Date);
  });

  it('what could not be written is written the next time', async () => {
    const agent = await makeAgent(open());
    let down = true;
    const db = open();
    const one = new AgentSpans({
      db: { ...db, run: (fn) => (down ? Promise.reject(new Error('away')) : db.run(fn)) },
      log: silentLogger,
    });
    await expect(see(one, [agent])).rejects.toThrow('away');
    down = false;
    await one.write();
    expect(await at(agent)).toBeInstanceOf(Date);
  });
});
