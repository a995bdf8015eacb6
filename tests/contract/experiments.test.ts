import { beforeAll, expect, test } from 'vitest';
import { sha256 } from '../../src/lib/crypto.ts';
import { startOtlpReceiver } from '../harness/otlp-receiver.ts';
import { startToolServer, type TestToolServer } from '../harness/tool-server.ts';
import { until } from '../harness/wait.ts';
import { newConversation, scripted } from './conversations-fixture.ts';
import { upload } from './files-fixture.ts';
import { expectError, faults, newAgent, newKey, ok, onEachDatabase, unknownId } from './fixture.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON, read field by field
type Json = any;

const own = ['current_time', 'request_review'];
/** A call of a tool of the tool server, or of the platform. */
const call = (tool: string, args: object = {}) => ({ tool: own.includes(tool) ? tool : `s__${tool}`, args });

onEachDatabase((at) => {
  let tools: TestToolServer;
  let serverId: string;
  /** A worker agent with tools: `look` is idempotent, `book` is not, and `pay` needs an approval. */
  let agent: Json;
  let dataset: string;

  beforeAll(async () => {
    let number = 0;
    const result = (name: string) => (args: object) => ({
      content: [{ type: 'text', text: `${name} ${JSON.stringify(args)} ${++number}` }],
    });
    tools = await startToolServer({
      tools: [
        { name: 'look', annotations: { readOnlyHint: true, idempotentHint: true }, result: result('look') },
        { name: 'book', result: result('book') },
        { name: 'pay', result: result('pay') },
        // Every other call breaks off, so that no one knows its outcome.
        { name: 'send', result: result('send'), wire: (n) => (n % 2 === 0 ? 'reset' : undefined) },
      ],
    });
    const server = { name: 'shop', prefix: 's', url: tools.url };
    serverId = (await ok(at().api.post('/tool-servers', server))).id;
    const tool_policies = [
      { tool_server_id: serverId, tool: 'look', policy: 'allow' },
      { tool_server_id: serverId, tool: 'book', policy: 'allow' },
      { tool_server_id: serverId, tool: 'send', policy: 'allow' },
      { tool_server_id: serverId, tool: 'pay', policy: 'require_approval' },
    ];
    const settings = { max_attempts: 1 };
    agent = await newAgent(at(), { name: 'tested', tool_server_ids: [serverId], tool_policies, settings });
    dataset = (await ok(at().api.post('/datasets', { name: 'of runs' }))).id;
  });

  const ended = (
    id: string,
    statuses = ['COMPLETED', 'ERROR', 'NEEDS_REVIEW', 'INDETERMINATE'],
  ): Promise<Json> =>
    until(async () => {
      const item = await ok(at().api.get(`/work-items/${id}`));
      return statuses.includes(item.status) ? item : undefined;
    });
  const run = async (steps: object[]): Promise<Json> => {
    const payload = { mock: { steps } };
    return ended((await ok(at().api.post('/work-items', { agent_id: agent.id, message: 'Go', payload }))).id);
  };
  const newDataset = async (fields: object = {}): Promise<string> =>
    (await ok(at().api.post('/datasets', { name: `d ${Math.random()}`, ...fields }))).id;
  const newCase = (datasetId: string, fields: object) =>
    ok(at().api.post(`/datasets/${datasetId}/cases`, fields));
  const written = (steps: object[], fields: object = {}) => ({
    input: { message: `Go ${Math.random()}`, payload: { mock: { steps } } },
    ...fields,
  });
  const start = (fields: object) =>
    at().api.post('/experiments', { agent_id: agent.id, dataset_id: dataset, ...fields });
  const done = async (fields: object): Promise<Json> => {
    const { id } = await ok(start(fields));
    return until(async () => {
      const experiment = await ok(at().api.get(`/experiments/${id}`));
      return ['done', 'cancelled'].includes(experiment.state) ? experiment : undefined;
    }, 30_000);
  };
  const trialsOf = async (experiment: Json, query = ''): Promise<Json[]> =>
    (await ok(at().api.get(`/experiments/${experiment.id}/trials${query}`))).data;
  const transcript = async (path: string) => (await at().api.get(`${path}/transcript`)).text;
  const contacts = () => tools.requests.length;

  test('a replay of recorded replies has the transcript of its source, and contacts no tool server', async () => {
    const plain = await run([call('look', { a: 1 }), { text: 'Plain.' }]);
    const parallel = await run([
      { tools: [call('look', { a: 1 }), call('book', { b: 2 }), call('look', { a: 1 }), call('nothing')] },
      call('current_time'),
      { text: 'Parallel.' },
    ]);
    const approved = await run([
      { tools: [call('pay', { n: 1 }), call('pay', { n: 2 }), call('pay', { n: 3 })] },
    ]);
    const [first, second, third] = approved.pending_approvals;
    const decisions = [
      { approval_id: first.approval_id, decision: 'approve' },
      { approval_id: second.approval_id, decision: 'approve', arguments: { n: 20 } },
      { approval_id: third.approval_id, decision: 'deny', reason: 'Too much.' },
    ];
    await ok(at().api.post(`/work-items/${approved.id}/continue`, { decisions, message: 'Then stop.' }));
    await ended(approved.id, ['COMPLETED']);
    const asked = await run([call('request_review', { reason: 'May I?' })]);
    await ok(at().api.post(`/work-items/${asked.id}/continue`, { message: 'You may.' }));
    await ended(asked.id, ['COMPLETED']);
    const failed = await run([call('look', { a: 2 }), { fail: 'gone' }]);
    expect(failed.status).toBe('ERROR');
    await ok(at().api.post(`/work-items/${failed.id}/continue`, { message: 'Try again.' }));
    await ended(failed.id, ['COMPLETED']);
    const unknown = await run([
      { tools: [call('send', { n: 1 }), call('look', { a: 3 })] },
      { text: 'Sent.' },
    ]);
    expect(unknown.status).toBe('INDETERMINATE');
    const [{ approval_id }] = unknown.pending_approvals;
    const again = [{ approval_id, decision: 'approve' }];
    await ok(at().api.post(`/work-items/${unknown.id}/continue`, { decisions: again }));
    await ended(unknown.id, ['COMPLETED']);
    for (const { id } of [plain, parallel, approved, asked, failed, unknown]) {
      await newCase(dataset, { work_item_id: id, name: id });
    }
    const before = contacts();
    for (const order of ['any_order', 'strict']) {
      const experiment = await done({ model: 'recorded', order });
      expect(experiment).toMatchObject({ trials: { total: 6, completed: 6 }, version: 1, llms: [] });
      for (const trial of await trialsOf(experiment)) {
        expect(trial).toMatchObject({
          outcome: 'completed',
          divergences: [],
          unused_calls: 0,
          agent_version: 1,
        });
        const path = `/experiments/${experiment.id}/trials/${trial.id}`;
        const text = await transcript(path);
        expect(text).toBe(await transcript(`/datasets/${dataset}/cases/${trial.case_id}`));
        expect(trial.transcript_hash).toBe(sha256(text));
      }
    }
    expect(contacts()).toBe(before);
  });

  /** A case whose tape has these calls with their results, in one reply each, and then a text. */
  const taped = (
    steps: object[],
    calls: { tool: string; args: object; text: string }[],
    fields: object = {},
  ) => {
    const messages = calls.flatMap(({ tool: tool_name, args, text }, i) => [
      {
        role: 'assistant',
        content: [{ type: 'tool_call', tool_call_id: `c${i}`, tool_name, arguments: args }],
      },
      {
        role: 'tool',
        content: [{ type: 'tool_result', tool_call_id: `c${i}`, tool_name, text, is_error: false }],
      },
    ]);
    return written(steps, {
      ...fields,
      tape: { messages: [...messages, { role: 'assistant', content: 'Ok.' }] },
    });
  };
  const one = async (
    fields: object,
    options: object = {},
  ): Promise<{ experiment: Json; trial: Json; said: Json[] }> => {
    const dataset_id = await newDataset();
    await newCase(dataset_id, fields);
    const experiment = await done({ dataset_id, ...options });
    const [trial] = await trialsOf(experiment);
    const path = `/experiments/${experiment.id}/trials/${trial.id}/messages`;
    const said = (await ok(at().api.get(path))).data.toReversed();
    return { experiment, trial, said };
  };
  const results = (said: Json[]) =>
    said.filter(({ role }) => role === 'tool').map(({ content }) => content[0].text);

  test('calls are matched by their arguments, and what is not recorded is a divergence or an error', async () => {
    const look = (n: number) => ({ tool: 's__look', args: { n }, text: `recorded ${n}` });
    const swapped = [
      { tools: [call('look', { n: 2 }), call('look', { n: 1 })] },
      call('look', { n: 2 }),
      { text: 'End.' },
    ];
    const before = contacts();
    const any = await one(
      taped(swapped, [look(1), look(2)], { expected: 'End.', graders: [{ type: 'equals' }] }),
    );
    expect(any.trial).toMatchObject({
      outcome: 'completed',
      result: 'End.',
      score: 1,
      unused_calls: 0,
      steps: 3,
    });
    expect(results(any.said)).toEqual(['recorded 2', 'recorded 1', 'recorded 2']);
    const strict = await one(taped(swapped, [look(1), look(2)]), { order: 'strict' });
    const nearest = { arguments: { n: 2 }, changes: [] };
    expect(strict.trial).toMatchObject({
      outcome: 'diverged',
      divergences: [{ step: 1, kind: 'out_of_order', tool_name: 's__look', arguments: { n: 2 }, nearest }],
    });
    const graded = { expected: 'End.', graders: [{ type: 'equals' }, { type: 'human', question: 'Fine?' }] };
    const new3 = await one(taped([call('look', { n: 3, page: 2 }), { text: 'End.' }], [look(1)], graded));
    expect(new3.trial).toMatchObject({ outcome: 'diverged', result: null, score: 0, unused_calls: 1 });
    const changes = [
      { path: 'n', from: 1, to: 3 },
      { path: 'page', to: 2 },
    ];
    expect(new3.trial.divergences).toMatchObject([{ step: 1, kind: 'not_recorded', nearest: { changes } }]);
    expect(new3.trial.scores.map(({ value, label }: Json) => [value, label])).toEqual([
      [0, 'fail'],
      [0, 'fail'],
    ]);
    const options = { on_divergence: 'error' };
    const goesOn = await one(taped([call('look', { n: 3 }), { text: 'End.' }], [look(1)], graded), options);
    expect(goesOn.trial).toMatchObject({
      outcome: 'completed',
      score: 1,
      divergences: [{ kind: 'not_recorded' }],
    });
    expect(results(goesOn.said)).toEqual(['This call is not on the recording.']);
    const left = await one(taped([{ text: 'End.' }], [look(1)]), { order: 'strict' });
    expect(left.trial).toMatchObject({
      outcome: 'diverged',
      divergences: [{ kind: 'not_called', arguments: { n: 1 } }],
    });
    const bought = { tool: 's__book', args: {}, text: 'booked' };
    const twice = await one(taped([call('book'), call('book'), { text: 'End.' }], [bought]));
    expect(twice.trial.outcome, 'an entry of a tool that is not idempotent serves once').toBe('diverged');
    const silent = await one(taped([], [look(1)]), { model: 'recorded' });
    expect(silent.trial).toMatchObject({ outcome: 'completed', result: 'Ok.' });
    const noTape = await one(written([]), { model: 'recorded' });
    expect(noTape.trial).toMatchObject({
      outcome: 'error',
      error: { code: 'no_tape' },
      score: null,
      scores: [],
    });
    expect(contacts()).toBe(before);
  });

  test('only idempotent tools that need no approval are called for real, and only where nothing is recorded', async () => {
    const calls = tools.calls.length;
    const live = { tools: 'idempotent_live', on_divergence: 'error', approvals: 'auto_approve' };
    const steps = [
      { tools: [call('look', { n: 9 }), call('book', { n: 9 })] },
      call('pay', { n: 9 }),
      { text: 'End.' },
    ];
    const { trial, said } = await one(written(steps), live);
    expect(tools.calls.slice(calls).map(({ name }) => name)).toEqual(['look']);
    expect(trial.divergences.map(({ tool_name }: Json) => tool_name)).toEqual(['s__book', 's__pay']);
    expect(results(said).filter((text) => text.startsWith('look'))).toHaveLength(1);
    const denied = await one(written([call('pay'), { text: 'End.' }]), { approvals: 'auto_deny' });
    expect(denied.trial).toMatchObject({ outcome: 'completed', divergences: [] });
    expect(results(denied.said)[0]).toMatch(/^A person refused this call/);
    const asks = written([call('request_review', { reason: 'May I?' })]);
    const texts = async (approvals: string) => {
      const { said } = await one(asks, { approvals });
      return said
        .filter(({ role }) => role === 'user')
        .map(({ content }) => content[0].text)
        .slice(1);
    };
    expect(await texts('auto_approve')).toEqual(['Go on.']);
    expect(await texts('auto_deny')).toEqual(['No one can answer.']);
  });

  test('a trial is in no list of Work Items, and its figures are in its experiment', async () => {
    const before = await ok(at().api.get('/work-items'));
    const dataset_id = await newDataset({ graders: [{ type: 'contains', values: ['End'] }] });
    await newCase(dataset_id, written([{ text: 'End.' }], { name: 'a', tags: ['x'] }));
    await newCase(dataset_id, written([{ text: 'Stop.' }], { name: 'b', tags: ['y'] }));
    await newCase(dataset_id, written([{ text: 'End.' }], { name: 'c', enabled: false }));
    const experiment = await done({ dataset_id, repetitions: 2 });
    expect(experiment).toMatchObject({
      state: 'done',
      trials: {
        total: 4,
        queued: 0,
        running: 0,
        completed: 4,
        failed: 0,
        diverged: 0,
        error: 0,
        cancelled: 0,
      },
      score: 0.5,
      pass_rate: 0.5,
      scores: [{ grader: 'contains', mean: 0.5, pass_rate: 0.5, scored: 4, unlabelled: 0 }],
      usage: { model_calls: 4 },
      duration_ms: { p50: expect.any(Number), p95: expect.any(Number) },
      llms: [{ llm_id: expect.any(String), revision: expect.any(Number), model: 'mock' }],
    });
    expect(await ok(at().api.get('/work-items'))).toEqual(before);
    expect(await trialsOf(experiment, '?label=fail')).toMatchObject([{ case_name: 'b' }, { case_name: 'b' }]);
    expect(await trialsOf(experiment, '?outcome=failed')).toEqual([]);
    expect((await done({ dataset_id, tags: ['y'] })).trials.total).toBe(1);
    const taken = await done({
      dataset_id,
      repetitions: 2,
      reuse: true,
      graders: [{ type: 'steps', max_steps: 1 }],
    });
    expect(taken.score).toBe(1);
    for (const trial of await trialsOf(taken)) expect(trial.reused_from).toMatch(/^[0-9a-f-]{36}$/);
    const compared = await ok(at().api.get(`/experiments/${experiment.id}/compare?with=${taken.id}&limit=1`));
    expect(compared).toMatchObject({
      cases: 2,
      before: 0.5,
      after: 1,
      drop: -0.5,
      data: [{ name: 'a', before: 1, after: 1 }],
      has_more: true,
    });
    const rest = `/experiments/${experiment.id}/compare?with=${taken.id}&next=${compared.next}`;
    expect((await ok(at().api.get(rest))).data).toMatchObject([{ name: 'b', before: 0, after: 1 }]);
    const other = await one(written([]));
    const wrong = await at().api.get(`/experiments/${experiment.id}/compare?with=${other.experiment.id}`);
    expect(faults(wrong)).toEqual(['with']);
  });

  test('a draft that is tested becomes a version that was never published', async () => {
    const tested = await newAgent(at(), { name: 'draft', release: 'manual' });
    await ok(at().api.patch(`/agents/${tested.id}`, { instructions: 'new' }));
    const dataset_id = await newDataset();
    await newCase(dataset_id, written([{ text: 'End.' }]));
    const experiment = await done({ agent_id: tested.id, dataset_id });
    expect(experiment.version).toBe(2);
    expect(await ok(at().api.get(`/agents/${tested.id}`))).toMatchObject({ version: 1, latest_version: 2 });
    expect(await ok(at().api.get(`/agents/${tested.id}/versions/2`))).toMatchObject({ state: 'tested' });
    expect((await done({ agent_id: tested.id, dataset_id, version: 'published' })).version).toBe(1);
  });

  test('what cannot be run is refused', async () => {
    const empty = await newDataset();
    expect(faults(await start({ dataset_id: empty }))).toEqual(['dataset_id']);
    expect(faults(await start({ dataset_id: unknownId }))).toEqual(['dataset_id']);
    expect(faults(await start({ agent_id: unknownId }))).toEqual(['agent_id']);
    expect(faults(await start({ version: 99 }))).toEqual(['version']);
    expect(faults(await start({ tags: ['no'] }))).toEqual(['tags']);
    const judge = { type: 'llm_judge', rubric: 'Good.', llm_id: unknownId };
    expect(faults(await start({ graders: [judge] }))).toEqual(['graders[0].llm_id']);
    const talker = await newAgent(at(), { name: 'talker', mode: 'conversational' });
    expect(faults(await start({ agent_id: talker.id }))).toEqual(['agent_id']);
    const external = await newAgent(at(), { name: 'external', execution: 'external' });
    expectError(await start({ agent_id: external.id }), 400, /External workers/);
    await ok(at().api.patch('/advanced-settings', { MAX_TRIALS_PER_EXPERIMENT: 1 }));
    const setting = { setting: 'MAX_TRIALS_PER_EXPERIMENT' };
    expectError(await start({}), 400, /6 trials; the maximum is 1/, setting);
    await ok(at().api.patch('/advanced-settings', { MAX_TRIALS_PER_EXPERIMENT: 10_000 }));
    const member = await newKey(at(), 'member');
    expect((await at().as(member.value).get('/experiments')).status).toBe(403);
  });

  test('a cancel ends the trials that run and those that wait, and only an ended experiment is deleted', async () => {
    const dataset_id = await newDataset();
    await newCase(dataset_id, written([{ text: 'End.', delay_ms: 60_000 }]));
    const { id } = await ok(start({ dataset_id, repetitions: 6 }));
    await until(async () => (await ok(at().api.get(`/experiments/${id}`))).trials.running === 4);
    expectError(await at().api.delete(`/experiments/${id}`), 412, /runs/, { state: 'running' });
    expectError(await at().api.delete(`/datasets/${dataset_id}`), 412, /runs/);
    expect(await ok(at().api.post(`/experiments/${id}/cancel`))).toMatchObject({ state: 'cancelled' });
    const experiment = await until(async () => {
      const now = await ok(at().api.get(`/experiments/${id}`));
      return now.trials.cancelled === 6 && now.finished_at !== null ? now : undefined;
    });
    expect(experiment).toMatchObject({ state: 'cancelled', score: null, pass_rate: null });
    expectError(await at().api.post(`/experiments/${id}/cancel`), 412, /finished/, { state: 'cancelled' });
    expect((await at().api.delete(`/experiments/${id}`)).status).toBe(204);
    expect((await at().api.get(`/experiments/${id}`)).status).toBe(404);
  });

  test('people label trials: that scores human graders and calibrates judges', async () => {
    const human = { type: 'human', name: 'polite', question: 'Is it polite?', threshold: 0.5 };
    const judge = { type: 'llm_judge', rubric: 'It says "End".' };
    const dataset_id = await newDataset({ graders: [human, judge, { type: 'equals', expected: 'End.' }] });
    await newCase(dataset_id, written([{ text: 'End.' }]));
    const experiment = await done({ dataset_id });
    const [trial] = await trialsOf(experiment, '?unlabelled=polite');
    expect(trial.scores).toMatchObject([
      { grader: 'polite', value: null, label: null },
      { grader: 'llm_judge', value: 1, label: 'pass' },
      { grader: 'equals', value: 1 },
    ]);
    const path = `/experiments/${experiment.id}/trials/${trial.id}`;
    const label = (grader: string, verdict: string, as = at().api) =>
      as.post(`${path}/labels`, { grader, verdict });
    expect(faults(await label('equals', 'pass'))).toEqual(['grader']);
    expect(await ok(label('polite', 'fail'))).toMatchObject({ grader: 'polite', verdict: 'fail' });
    expect(await ok(at().api.get(path))).toMatchObject({
      score: 2 / 3,
      scores: [{ value: 0, label: 'fail' }, {}, {}],
    });
    await ok(label('polite', 'pass', at().as((await newKey(at(), 'builder')).value)));
    expect(await ok(at().api.get(path))).toMatchObject({
      score: 2.5 / 3,
      scores: [{ value: 0.5, label: 'pass' }, {}, {}],
    });
    expect((await at().api.delete(`${path}/labels/polite`)).status).toBe(204);
    expect(await ok(at().api.get(path))).toMatchObject({ score: 1, labels: [{ verdict: 'pass' }] });
    expect(await trialsOf(experiment, '?unlabelled=polite')).toEqual([]);
    await ok(label('llm_judge', 'fail'));
    const found = async () =>
      (await ok(at().api.get('/judges'))).data.find(({ rubric }: Json) => rubric === judge.rubric);
    const counted = {
      votes: 1,
      labels: { pass: 0, fail: 1 },
      confusion: { tp: 0, fp: 0, tn: 0, fn: 1 },
      precision: null,
      recall: 0,
      calibrated: false,
    };
    expect(await found()).toMatchObject(counted);
    expect((await at().api.delete(`/experiments/${experiment.id}`)).status).toBe(204);
    expect(await found(), 'labels outlive their trial').toMatchObject(counted);
  });

  test('a run of a conversation is replayed with the messages before it', async () => {
    const talker = await newAgent(at(), { name: 'talks', mode: 'conversational', instructions: 'Be kind.' });
    const talk = await newConversation(at(), { agentId: talker.id });
    await talk.send({ content: 'First.' });
    const asks = scripted({ steps: [call('request_review', { reason: 'May I?' })] });
    const { id } = await talk.send({ content: asks });
    expect(await talk.send({ content: 'You may.' })).toMatchObject({ id, status: 'completed' });
    const dataset_id = await newDataset({ mode: 'conversational' });
    const made = await newCase(dataset_id, { run_id: id });
    expect(made.input.history.length).toBeGreaterThan(1);
    const experiment = await done({ agent_id: talker.id, dataset_id, model: 'recorded' });
    const [trial] = await trialsOf(experiment);
    expect(trial).toMatchObject({ outcome: 'completed', divergences: [] });
    const messages = await ok(
      at().api.get(`/experiments/${experiment.id}/trials/${trial.id}/messages?limit=200`),
    );
    const roles = messages.data.toReversed().map(({ role }: Json) => role);
    expect(roles).toEqual(['system', 'user', 'assistant', 'tool', 'user', ...roles.slice(5)]);
    expect(trial.transcript_hash).toBe(made.transcript_hash);
  });

  test('data frames of recorded calls are there for local tools and for SQL', async () => {
    const item = await ok(
      at().api.post('/work-items', { agent_id: agent.id, draft: true, message: 'Count' }),
    );
    await upload(at().api, `/work-items/${item.id}`, 'a.csv', 'a,b\n1,2\n3,4\n');
    const frame = { tool: 'make_data_frame', args: { file: 'a.csv', name: 'table_a' } };
    const kept = {
      tool: 'query_data_frames',
      args: { sql: 'select sum(a) as n from table_a', save_as: 'total' },
    };
    const payload = { mock: { steps: [frame, kept, { text: 'End.' }] } };
    await ok(at().api.patch(`/work-items/${item.id}`, { payload }));
    await ok(at().api.post(`/work-items/${item.id}/submit`));
    await ended(item.id, ['COMPLETED']);
    const graders = [
      { type: 'sql', query: 'select n from total', expected: [[4]] },
      { type: 'sql', name: 'not made', query: 'select 1 from no_such_frame' },
    ];
    const dataset_id = await newDataset({ graders });
    const made = await newCase(dataset_id, { work_item_id: item.id });
    const [replayed] = await trialsOf(await done({ dataset_id }));
    expect(replayed.outcome, JSON.stringify(replayed)).toBe('completed');
    expect(replayed.scores.map(({ value }: Json) => value)).toEqual([1, 0]);
    // Without the tape the same calls run inside the trial, on the files of the case.
    await ok(at().api.patch(`/datasets/${dataset_id}/cases/${made.id}`, { tape: null }));
    const [local] = await trialsOf(await done({ dataset_id }));
    expect(local.scores.map(({ value }: Json) => value)).toEqual([1, 0]);
    const frames = await at().sql`select trial_id from data_frames where trial_id = ${local.id}`;
    expect(frames).toHaveLength(2);
    await ok(at().api.delete(`/experiments/${local.experiment_id}`), 204);
    expect(await at().sql`select trial_id from data_frames where trial_id = ${local.id}`).toEqual([]);
  });

  test('a trial has a trace only with EVALUATION_TRACES, and then an event for each score', async () => {
    await using backend = await startOtlpReceiver();
    const settings = { provider: 'otlp_custom_headers', url: backend.url };
    const { id } = await ok(at().api.post('/observability/integrations', { version: '1', settings }), 201);
    const dataset_id = await newDataset({ graders: [{ type: 'steps', max_steps: 1 }] });
    await newCase(dataset_id, written([{ text: 'End.' }]));
    await done({ dataset_id });
    await ok(at().api.patch('/advanced-settings', { EVALUATION_TRACES: true }));
    const traced = await done({ dataset_id });
    const [trial] = await trialsOf(traced);
    const spans = await until(() => {
      const all = backend.spans();
      return all.some(({ name }) => name === 'evaluate steps') && all;
    });
    await ok(at().api.patch('/advanced-settings', { EVALUATION_TRACES: false }));
    await ok(at().api.delete(`/observability/integrations/${id}`), 204);
    const agents = spans.filter(({ name }) => name.startsWith('invoke_agent'));
    expect(agents).toHaveLength(1);
    const ids = { 'agent_platform.experiment.id': traced.id, 'agent_platform.trial.id': trial.id };
    const version = String(trial.agent_version);
    expect(agents[0]!.attributes).toMatchObject({ ...ids, 'gen_ai.agent.version': version });
    const score = spans.find(({ name }) => name === 'evaluate steps')!;
    expect(score).toMatchObject({ traceId: agents[0]!.traceId, attributes: ids });
  });
});
