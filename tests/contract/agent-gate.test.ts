import { beforeAll, describe, expect, test } from 'vitest';
import { sql } from '../../src/database/index.ts';
import type { Client } from '../harness/http.ts';
import { until } from '../harness/wait.ts';
import {
  expectError,
  type Fixture,
  faults,
  newKey,
  ok,
  onEachDatabase,
  query,
  unknownId,
  useReplicas,
} from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

/** A case in which the agent calls a tool before it replies: with `max_steps: 1` it fails. */
const twoSteps = (n: number) => ({
  name: `case ${String(n).padStart(2, '0')}`,
  input: { message: `Go ${n}`, payload: { mock: { steps: [{ tool: 'current_time' }, { text: 'Fine.' }] } } },
});
const lines = (cases: object[]) => cases.map((one) => JSON.stringify(one)).join('\n');
const twenty = Array.from({ length: 20 }, (_, n) => twoSteps(n));
const better = { instructions: 'Be brief.' };
const worse = { settings: { max_steps: 1 } };

describe('the gate of an agent', () => {
  onEachDatabase((at) => {
    let builder: Client;
    let dataset: string;

    const newDataset = async (fields: object = {}, cases: object[] = twenty): Promise<string> => {
      const graders = [{ type: 'contains', values: ['Fine'] }];
      const name = `d ${Math.random()}`;
      const { id } = await ok(at().api.post('/datasets', { name, graders, ...fields }));
      if (cases.length > 0) await ok(at().api.post(`/datasets/${id}/import`, { content: lines(cases) }));
      return id;
    };
    const gated = (fields: object = {}, gate: object = {}): Promise<Json> =>
      ok(
        at().api.post('/agents', {
          name: `gated ${Math.random()}`,
          mode: 'worker',
          release: 'manual',
          gate: { dataset_id: dataset, trials: 1, ...gate },
          ...fields,
        }),
      );
    const path = ({ id }: Json) => `/agents/${id}`;
    const get = (agent: Json) => ok(at().api.get(path(agent)));
    const patch = (agent: Json, changes: object) => ok(at().api.patch(path(agent), changes));
    const publish = (agent: Json, body: object = {}, as: Client = at().api) =>
      as.post(`${path(agent)}/publish`, body);
    const checked = (agent: Json, body: object = {}) => publish(agent, { wait_seconds: 60, ...body });
    const publications = async (agent: Json): Promise<Json[]> =>
      (await ok(at().api.get(`${path(agent)}/publications`))).data;
    const ended = (agent: Json, id: string): Promise<Json> =>
      until(async () => {
        const now = await ok(at().api.get(`${path(agent)}/publications/${id}`));
        return now.state === 'checking' ? undefined : now;
      }, 60_000);
    const experimentsOf = async (agent: Json): Promise<Json[]> =>
      (await ok(at().api.get(`/experiments?agent_id=${agent.id}`))).data;
    const audits = async (agent: Json): Promise<Json[]> =>
      (await ok(at().api.get(`/audits?target_id=${agent.id}&action=agent.publish`))).data;

    beforeAll(async () => {
      builder = at().as((await newKey(at(), 'builder')).value);
      dataset = await newDataset();
    });

    test('only admins change it, only with release: manual, and only for a dataset with 20 cases', async () => {
      const agent = await gated();
      expect(agent.gate).toEqual({
        dataset_id: dataset,
        tags: [],
        graders: null,
        trials: 1,
        max_drop: 0.03,
        confidence: 0.95,
        tools: 'replay',
        order: 'any_order',
        on_divergence: 'end',
        approvals: 'auto_approve',
      });
      expect(await get(agent)).toMatchObject({ gate: agent.gate });
      const as = (changes: object, who: Client = at().api) => who.patch(path(agent), changes);
      expectError(await as({ gate: null }, builder), 403);
      expectError(await as({ gate: { dataset_id: dataset, trials: 2 } }, builder), 403);
      await ok(as({ gate: agent.gate, name: 'the same gate' }, builder));
      expectError(
        await builder.post('/agents', { name: 'x', mode: 'worker', release: 'manual', gate: agent.gate }),
        403,
      );
      const few = await newDataset({}, twenty.slice(0, 19));
      const talking = await newDataset({ mode: 'conversational' }, []);
      for (const [gate, fault] of [
        [{ dataset_id: unknownId }, 'gate.dataset_id'],
        [{ dataset_id: 'x' }, 'gate.dataset_id'],
        [{ dataset_id: few }, 'gate.dataset_id'],
        [{ dataset_id: talking }, 'gate.dataset_id'],
        [{ dataset_id: dataset, tags: ['rare'] }, 'gate.tags'],
        [{ dataset_id: dataset, trials: 11 }, 'gate.trials'],
        [{ dataset_id: dataset, confidence: 0.4 }, 'gate.confidence'],
        [
          { dataset_id: dataset, graders: [{ type: 'llm_judge', rubric: 'x', llm_id: unknownId }] },
          'gate.graders[0].llm_id',
        ],
      ] as const) {
        expect(faults(await as({ gate })), JSON.stringify(gate)).toEqual([fault]);
      }
      expect(faults(await as({ release: 'automatic' }))).toEqual(['release']);
      expect(faults(await as({ execution: 'external' }))).toEqual(['execution']);
      const automatic = await ok(at().api.post('/agents', { name: 'a', mode: 'worker' }));
      expect(faults(await at().api.patch(path(automatic), { gate: agent.gate }))).toEqual(['gate']);
      expectError(await at().api.delete(`/datasets/${dataset}`), 412, /Agents use this dataset/, {
        agent_ids: expect.arrayContaining([agent.id]),
      });
      expect(await patch(agent, { gate: null, release: 'automatic' })).toMatchObject({ gate: null });
      expect((await at().api.delete(`/datasets/${few}`)).status).toBe(204);
    });

    test('a draft that is not worse is published when its check has passed', async () => {
      const agent = await gated();
      expect((await ok(publish(agent, { check_only: true }))).state, 'nothing to publish').toBe('published');
      await patch(agent, better);
      const begun = await ok(publish(agent, { note: 'Shorter.' }), 202);
      expect(begun).toMatchObject({ kind: 'publish', state: 'checking', version: 2, from_version: 1 });
      expect(begun.gate).toMatchObject({ cases: null, failing_cases: [] });
      expect(begun.gate.experiment_ids).toHaveLength(2);
      await patch(agent, { instructions: 'Changed during the check.' });
      const publication = await ended(agent, begun.id);
      expect(publication).toMatchObject({ state: 'published', note: 'Shorter.', overridden: false });
      expect(publication.gate).toMatchObject({
        cases: 20,
        before: 1,
        after: 1,
        drop: 0,
        p_value: 1,
        detectable_drop: 0,
        excluded_trials: 0,
        experiment_ids: begun.gate.experiment_ids,
        failing_cases: [],
      });
      expect(await get(agent)).toMatchObject({
        version: 2,
        has_changes: true,
        instructions: 'Changed during the check.',
      });
      const [candidate] = begun.gate.experiment_ids;
      expect(await ok(at().api.get(`/experiments/${candidate}`))).toMatchObject({
        publication_id: begun.id,
        version: 2,
        reuse: true,
      });
      const [last, first] = await audits(agent);
      expect(last).toMatchObject({
        principal: { kind: 'system' },
        details: { state: 'published', drop: 0, cases: 20 },
      });
      expect(first).toMatchObject({ details: { state: 'checking', publication_id: begun.id } });
    });

    test('a worse draft is blocked after a second run of the published version, and asking again runs nothing', async () => {
      const agent = await gated();
      await patch(agent, worse);
      const refused = await checked(agent);
      const { publication } = refused.body.error;
      expectError(refused, 412, /worse/, { publication });
      expect(publication).toMatchObject({ state: 'blocked', version: 2, from_version: 1 });
      expect(publication.gate).toMatchObject({ cases: 20, before: 1, after: 0, drop: 1, excluded_trials: 0 });
      expect(publication.gate.p_value).toBeLessThan(0.001);
      expect(publication.gate.experiment_ids).toHaveLength(3);
      expect(publication.gate.failing_cases).toHaveLength(20);
      expect(publication.gate.failing_cases[0]).toMatchObject({ name: 'case 00', before: 1, after: 0 });
      const again = await ok(at().api.get(`/experiments/${publication.gate.experiment_ids[2]}`));
      expect(again).toMatchObject({ version: 1, reuse: false });
      expect(await get(agent)).toMatchObject({ version: 1, has_changes: true });
      expect(await ok(at().api.get(`${path(agent)}/publications/${publication.id}`))).toEqual(publication);
      const [last] = await audits(agent);
      expect(last).toMatchObject({ details: { state: 'blocked', drop: 1, failing_cases: 20 } });
      expect(JSON.stringify(last)).not.toContain('case 00');

      const attention = async () =>
        (await ok(at().app.get('/overview?hours=24'))).attention.filter(
          ({ subject }: Json) => subject?.id === agent.id,
        );
      await until(async () => (await attention()).length === 1);
      expect(await attention()).toMatchObject([
        { kind: 'publish_blocked', detail: expect.stringMatching(/20 cases it has 0 points/) },
      ]);

      const experiments = await experimentsOf(agent);
      expectError(await publish(agent), 412, /worse/, { publication });
      expectError(await publish(agent, { check_only: true }), 412, /worse/, { publication });
      await patch(agent, better);
      await patch(agent, { instructions: '' });
      expectError(await publish(agent), 412, /worse/, { publication });
      expect(await experimentsOf(agent)).toEqual(experiments);

      expectError(await publish(agent, { override_reason: 'Urgent.' }, builder), 403);
      const overridden = await ok(publish(agent, { override_reason: 'Urgent.' }));
      expect(overridden).toMatchObject({
        state: 'published',
        overridden: true,
        reason: 'Urgent.',
        gate: null,
        version: publication.version,
      });
      expect((await audits(agent))[0].details).toMatchObject({
        overridden: true,
        override_reason: 'Urgent.',
      });
    });

    test('a lucky result of the published version that is reused blocks nothing: its trials run once more', async () => {
      const failing = { name: 'lucky', settings: { max_steps: 1 } };
      const agent = await gated(failing);
      const fields = { dataset_id: dataset, agent_id: agent.id, version: 'published' };
      const { id } = await ok(at().api.post('/experiments', fields));
      await until(async () => (await ok(at().api.get(`/experiments/${id}`))).state === 'done', 30_000);
      await query(
        at(),
        sql`with trial as (update trials set score = 1, verdict = 'completed' where experiment_id = ${id} returning id)
          update scores set value = 1, label = 'pass' where trial_id in (select id from trial)`,
      );
      await patch(agent, better);
      const publication = await ok(checked(agent));
      expect(publication).toMatchObject({ state: 'published', gate: { before: 0, after: 0, drop: 0 } });
      const [, first, second] = publication.gate.experiment_ids;
      expect((await ok(at().api.get(`/experiments/${first}`))).score).toBe(1);
      expect((await ok(at().api.get(`/experiments/${second}`))).score).toBe(0);
    });

    test('check_only ends as passed, allows a canary, and publishing then runs nothing', async () => {
      const agent = await gated();
      await patch(agent, better);
      const canary = (body: object = {}, as: Client = at().api) =>
        as.post(`${path(agent)}/canary`, { version: 'draft', percent: 5, ...body });
      expectError(await canary(), 412, /has not passed/, { version: 2 });
      expectError(await canary({ override_reason: 'x' }, builder), 403);
      await ok(canary({ override_reason: 'A try.' }));
      expectError(await builder.post(`${path(agent)}/canary/promote`), 412, /has not passed/, { version: 2 });
      await ok(at().api.post(`${path(agent)}/canary/abort`));

      expect(faults(await publish(agent, { check_only: true, override_reason: 'x' }))).toEqual([
        'override_reason',
      ]);
      const passed = await ok(checked(agent, { check_only: true }));
      expect(passed).toMatchObject({ state: 'passed', version: 2, gate: { drop: 0 } });
      expect(await get(agent)).toMatchObject({ version: 1, has_changes: true });
      expect(await ok(publish(agent, { check_only: true }))).toEqual(passed);
      await ok(canary({}, builder));
      expectError(await publish(agent), 412, /canary/i, { canary: expect.anything() });
      await ok(at().api.post(`${path(agent)}/canary/abort`));
      const experiments = await experimentsOf(agent);
      const published = await ok(publish(agent));
      expect(published).toMatchObject({
        state: 'published',
        version: 2,
        gate: passed.gate,
        overridden: false,
      });
      expect(await experimentsOf(agent)).toEqual(experiments);
      expect(await get(agent)).toMatchObject({ version: 2, has_changes: false });
    });

    test('scores of people and of judges that are not calibrated do not count, and those of calibrated ones do', async () => {
      const graders = [
        { type: 'llm_judge', rubric: 'Is it fine?' },
        { type: 'human', question: 'Is it?' },
      ];
      const agent = await gated({}, { graders });
      await patch(agent, worse);
      const refused = await checked(agent);
      const { publication } = refused.body.error;
      expectError(refused, 412, /could not decide/, { publication });
      expect(publication).toMatchObject({
        state: 'inconclusive',
        gate: { cases: 0, drop: null, excluded_trials: 40 },
      });
      const second = (await checked(agent)).body.error.publication;
      expect(second.state).toBe('inconclusive');
      expect(second.id, 'no verdict is kept: what had no score runs again').not.toBe(publication.id);
      await query(
        at(),
        sql`insert into labels (trial_id, grader, principal_id, principal_name, verdict, judge_key, judge_verdict)
          select new_id(), 'llm_judge', 'p', 'p', case when n > 10 then 'pass' else 'fail' end, j.judge_key, 'pass'
          from generate_series(1, 50) n cross join (select distinct s.judge_key from scores s
            join trials t on t.id = s.trial_id where t.agent_id = ${agent.id} and s.judge_key is not null) j`,
      );
      const calibrated = (await checked(agent)).body.error.publication;
      expect(calibrated, 'failed trials count for the judge that was not asked').toMatchObject({
        state: 'blocked',
        gate: { cases: 20, before: 1, after: 0, excluded_trials: 0 },
      });
    });

    test('too few enabled cases are inconclusive at once, and without a gate check_only is refused', async () => {
      const small = await newDataset();
      const agent = await gated({}, { dataset_id: small });
      const { data } = await ok(at().api.get(`/datasets/${small}/cases`));
      await ok(at().api.patch(`/datasets/${small}/cases/${data[0].id}`, { enabled: false }));
      await patch(agent, better);
      const refused = await publish(agent);
      expectError(refused, 412, /could not decide/, { publication: expect.anything() });
      expect(refused.body.error.publication).toMatchObject({
        state: 'inconclusive',
        gate: { cases: 19, experiment_ids: [] },
      });
      await patch(agent, { gate: null });
      expect(faults(await publish(agent, { check_only: true }))).toEqual(['check_only']);
      expect(await ok(publish(agent))).toMatchObject({ state: 'published', gate: null });
    });

    describe('during a check', () => {
      let slow: string;
      /** An agent whose check takes long, unless it is cancelled. */
      const checking = async (body: object = {}): Promise<{ agent: Json; publication: Json }> => {
        const agent = await gated({}, { dataset_id: slow });
        await patch(agent, better);
        return { agent, publication: await ok(publish(agent, body), 202) };
      };
      const cancelled = async (agent: Json, { id, gate }: Json): Promise<void> => {
        expect((await publications(agent)).find((one) => one.id === id)).toMatchObject({
          state: 'cancelled',
        });
        for (const experiment of gate.experiment_ids) {
          expect((await ok(at().api.get(`/experiments/${experiment}`))).state).toBe('cancelled');
        }
      };

      beforeAll(async () => {
        const steps = [{ text: 'Fine.', delay_ms: 20_000 }];
        const cases = twenty.map((one) => ({
          ...one,
          input: { message: one.input.message, payload: { mock: { steps } } },
        }));
        slow = await newDataset({}, cases);
      });

      test('the same content has the same publication, other content is refused', async () => {
        const { agent, publication } = await checking({ check_only: true });
        const waiter = publish(agent, { wait_seconds: 30, note: 'Now.' });
        const now = () => ok(at().api.get(`${path(agent)}/publications/${publication.id}`));
        await until(async () => (await now()).note === 'Now.');
        const both = await Promise.all([publish(agent), publish(agent, { check_only: true })]);
        for (const one of both) expect([one.status, one.body.id]).toEqual([202, publication.id]);
        const key = { headers: { 'idempotency-key': 'publish-1' } };
        const post = () => at().api.post(`${path(agent)}/publish`, {}, key);
        expect((await ok(post(), 202)).id).toBe(publication.id);
        const repeated = await post();
        expect([repeated.status, repeated.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
        await patch(agent, { instructions: 'Other.' });
        expectError(await publish(agent), 412, /being checked/, {
          publication: expect.objectContaining({ id: publication.id, state: 'checking' }),
        });
        expectError(
          await at().api.post(`${path(agent)}/canary`, { version: 2, percent: 1 }),
          412,
          /being checked/,
          { publication: expect.objectContaining({ id: publication.id }) },
        );
        const cancel = () => at().api.post(`${path(agent)}/publications/${publication.id}/cancel`);
        await ok(cancel());
        expectError(await waiter, 412, /cancelled/, { publication: expect.anything() });
        await cancelled(agent, publication);
        expectError(await cancel(), 412, /not being checked/, { state: 'cancelled' });
        expectError(await at().api.post(`${path(agent)}/publications/${unknownId}/cancel`), 404);
      });

      test('an override publishes and cancels it', async () => {
        const { agent, publication } = await checking();
        expect(await ok(publish(agent, { override_reason: 'Now.' }))).toMatchObject({
          state: 'published',
          overridden: true,
          version: 2,
        });
        await cancelled(agent, publication);
      });

      test('a rollback cancels it, and so does whatever else publishes', async () => {
        const { agent, publication } = await checking();
        await ok(publish(agent, { override_reason: 'To have a version 2.' }));
        await patch(agent, { instructions: 'Three.' });
        const second = await ok(publish(agent), 202);
        await ok(at().api.post(`${path(agent)}/rollback`, { version: 1 }));
        await cancelled(agent, second);
        expect(publication.id).not.toBe(second.id);
        const third = await ok(publish(agent), 202);
        await patch(agent, { gate: null, release: 'automatic' });
        await cancelled(agent, third);
        expect(await get(agent)).toMatchObject({ instructions: 'Three.', has_changes: false });
      });

      test('cancels and publishes at once leave one end', async () => {
        const { agent, publication } = await checking();
        const results = await Promise.all([
          at().api.post(`${path(agent)}/publications/${publication.id}/cancel`),
          publish(agent, { override_reason: 'One.' }),
          at().api.post(`${path(agent)}/publications/${publication.id}/cancel`),
          publish(agent, { override_reason: 'Two.' }),
        ]);
        expect(results.map(({ status }) => status).filter((status) => status === 500)).toEqual([]);
        const all = await publications(agent);
        expect(all.filter(({ state, version }) => state === 'published' && version === 2)).toHaveLength(1);
        await cancelled(agent, publication);
      });
    });
  });
});

describe('the gate of an agent on two replicas', () => {
  let a: Fixture;
  let b: Fixture;
  useReplicas((one, other) => {
    a = one;
    b = other;
  });

  /** Holds the lock of the agent until both replicas wait for it, and `then` is done. */
  const hold = (id: string, then: () => Promise<unknown> = async () => {}) =>
    a.db.tx(async (tx) => {
      await sql`select from agents where id = ${id} for no key update`.execute(tx);
      await until(async () => {
        // The first one that waits has the lock of the row's tuple, and the second waits for that.
        const { rows } = await sql`select from pg_locks where locktype = 'tuple' and not granted
          and relation = 'agents'::regclass`.execute(tx);
        return rows.length > 0;
      }, 60_000);
      await then();
    });
  const begin = async (draft: object) => {
    const graders = [{ type: 'contains', values: ['Fine'] }];
    const name = `both ${Math.random()}`;
    const dataset = await ok(a.api.post('/datasets', { name, graders }));
    await ok(a.api.post(`/datasets/${dataset.id}/import`, { content: lines(twenty) }));
    const gate = { dataset_id: dataset.id, trials: 1 };
    const agent = await ok(a.api.post('/agents', { name, mode: 'worker', release: 'manual', gate }));
    await ok(a.api.patch(`/agents/${agent.id}`, draft));
    const { id } = await ok(b.api.post(`/agents/${agent.id}/publish`), 202);
    const ended = () =>
      until(async () => {
        const now = await ok(b.api.get(`/agents/${agent.id}/publications/${id}`));
        return now.state === 'checking' ? undefined : now;
      });
    return { agent, dataset, ended };
  };

  test('a verdict that both compute is applied once, on the cases with which the check began', async () => {
    const { agent, dataset, ended } = await begin(worse);
    const { data: cases } = await ok(a.api.get(`/datasets/${dataset.id}/cases`));
    await ok(a.api.patch(`/datasets/${dataset.id}/cases/${cases[0].id}`, { enabled: false }));
    await hold(agent.id);
    await hold(agent.id);
    expect(await ended()).toMatchObject({
      state: 'blocked',
      gate: { cases: 20, experiment_ids: { length: 3 } },
    });
    const { data: experiments } = await ok(a.api.get(`/experiments?agent_id=${agent.id}`));
    expect(experiments).toHaveLength(3);
    const { data: audits } = await ok(a.api.get(`/audits?target_id=${agent.id}&action=agent.publish`));
    expect(audits.map(({ details }: Json) => details.state)).toEqual(['blocked', 'checking']);
    const blocked = async ({ test }: Fixture) => {
      const { text } = await test.as(undefined, '').get('/metrics');
      return Number(text.match(/publications_total\{state="blocked"\} (\d+)/)![1]);
    };
    await until(async () => (await blocked(a)) + (await blocked(b)) === 1);
  });

  test('a version that passed and names what was deleted in the meantime is not published', async () => {
    const llm = await ok(a.api.post('/llm-configurations', { name: 'gone', kind: 'mock', model: 'mock' }));
    const { agent, ended } = await begin({ fallback_llm_ids: [llm.id] });
    await ok(a.api.patch(`/agents/${agent.id}`, { fallback_llm_ids: [] }));
    await hold(agent.id, async () => {
      expect((await b.api.delete(`/llm-configurations/${llm.id}`)).status).toBe(204);
    });
    expect(await ended()).toMatchObject({
      state: 'inconclusive',
      reason: expect.stringMatching(/deleted during the check: fallback_llm_ids/),
      gate: { drop: 0 },
    });
    expect(await ok(a.api.get(`/agents/${agent.id}`))).toMatchObject({ version: 1, has_changes: false });
  });
});
