import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { encodeRequest, type TestSpan } from '../../packages/otlp/tests/encode.ts';
import { eachDatabase } from '../../tests/harness/database.ts';
import { until } from '../../tests/harness/wait.ts';
import { sql } from '../database/index.ts';
import { newId } from '../lib/ids.ts';
import { silentLogger } from '../lib/log.ts';
import { defaultSettings, type Settings } from '../settings/index.ts';
import { beginPart, findOpenPart, listParts, lockParts, readStoreState } from './part-store.ts';
import { findTraceRows, listTraceRows, type TraceFilter, type TraceSort } from './read-store.ts';
import { dropAllParts, PartKeeper } from './retention.ts';
import { readSpan, readTrace } from './view.ts';
import { TraceWriter } from './writer.ts';

const second = 1_000_000_000n;
const now = 1_790_000_000n * second;
const hex = (n: number, bytes: number): string => n.toString(16).padStart(bytes * 2, '0');
const traceIdOf = (n: number): string => hex(n, 16);

const chat = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.usage.input_tokens': 10,
  'gen_ai.usage.output_tokens': 5,
};

/** A request with `spans` of a service; `padding` bytes that do not compress make a block larger. */
const request = (spans: TestSpan[], service = 'shop') => ({
  spans: spans.length,
  gzip: false,
  bytes: encodeRequest([{ attributes: { 'service.name': service }, scopes: [{ spans }] }]),
});

const rootOf = (n: number, more: Partial<TestSpan> = {}): TestSpan => ({
  traceId: traceIdOf(n),
  spanId: hex(n, 8),
  name: `root ${n}`,
  start: now + BigInt(n) * second,
  end: now + BigInt(n) * second + second,
  ...more,
});

eachDatabase((_name, open) => {
  const run: ReturnType<typeof open>['run'] = (fn) => open().run(fn);
  const rowsOf = (n: number) => run((executor) => findTraceRows(executor, [traceIdOf(n)]));
  const list = async (filter: TraceFilter, sort: TraceSort = 'time') => {
    const rows = await run((executor) => listTraceRows(executor, filter, { sort, after: null, limit: 50 }));
    return rows.map(({ trace_id }) => Number.parseInt(trace_id, 16));
  };
  const writer = () => new TraceWriter(open(), () => {});
  const storedSpans = async (): Promise<number> => {
    const { rows } = await run((executor) =>
      sql<{ spans: number }>`select coalesce(sum(spans), 0)::bigint as spans from trace_blocks`.execute(
        executor,
      ),
    );
    return rows[0]!.spans;
  };
  const clear = () => open().tx(dropAllParts);

  test('spans that a log gives again are not stored again, by whichever replica', async () => {
    await clear();
    const log = newId();
    const [first, second] = [writer(), writer()];
    const all = [request([rootOf(1), rootOf(2)]), request([rootOf(3)])];
    expect(await first.store(log, 0, all)).toBe(3);
    // With the cursor behind, and other bounds of the batch.
    expect(await second.store(log, 1, [request([rootOf(2)]), request([rootOf(3), rootOf(4)])])).toBe(4);
    expect(await first.store(log, 0, all)).toBe(4);
    expect(await storedSpans()).toBe(4);
    // Both at once: one of them has to look again.
    const more = (n: number) => [request([rootOf(n)])];
    await Promise.all([first.store(log, 4, more(5)), second.store(log, 4, more(5))]);
    expect(await storedSpans()).toBe(5);
    expect(await first.skip(log, 9)).toBe(5);
    expect(
      await second.store(
        log,
        5,
        Array.from({ length: 5 }, (_, i) => request([rootOf(6 + i)])),
      ),
    ).toBe(6);
    expect((await rowsOf(10)).length).toBe(1);
    expect((await rowsOf(9)).length).toBe(0);
  });

  test('a trace that comes in pieces is one row, whatever their order, and is read whole', async () => {
    await clear();
    const log = newId();
    const one = writer();
    const child = (id: number, more: Partial<TestSpan>) =>
      rootOf(1, { spanId: hex(id, 8), parentSpanId: hex(1, 8), ...more });
    const error = {
      error: 'no',
      attributes: { ...chat, 'gen_ai.request.model': 'm1', 'error.type': 'timeout' },
    };
    await one.store(log, 0, [
      request(
        [child(3, { name: 'late child', start: now + 9n * second, end: now + 12n * second, ...error })],
        'b',
      ),
    ]);
    await one.store(log, 1, [
      request([child(2, { name: 'child', attributes: { ...chat, 'gen_ai.agent.id': 'sub' } })], 'c'),
    ]);
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.id': 'top',
      'gen_ai.agent.name': 'Top',
    };
    const root = rootOf(1, { name: 'the root', start: now, end: now + 20n * second, attributes });
    await one.store(log, 2, [request([root, root], 'a')]);
    // A sender that tried again.
    await one.store(log, 4, [request([root], 'a')]);
    const [row, ...others] = await rowsOf(1);
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      name: 'the root',
      service: 'a',
      agent_id: 'top',
      agent_name: 'Top',
      span_count: 3,
      failed_spans: 1,
      tokens: 30,
      end_us: Number(now / 1_000n) + 20_000_000,
    });
    expect(row!.terms.toSorted()).toEqual(['e:timeout', 'm:m1', 's:a', 's:b', 's:c']);
    const trace = (await readTrace(open(), [row!]))!;
    expect(trace.spans.map(({ name, offset_us }) => [name, offset_us])).toEqual([
      ['the root', 0],
      ['child', 1_000_000],
      ['late child', 9_000_000],
    ]);
    expect(trace.missingParents).toEqual([]);
    expect(await readSpan(open(), [row!], hex(3, 8))).toMatchObject({
      status_message: 'no',
      attributes: { 'error.type': 'timeout' },
      resource: { 'service.name': 'b' },
    });
  });

  test('filters compare exact values, together, and each sort is largest first', async () => {
    await clear();
    const cost = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.model': 'm:x' };
    const tool = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'pay' };
    await writer().store(newId(), 0, [
      request([
        rootOf(1, { attributes: { ...cost, 'agent_platform.cost.nano_usd': 500 }, end: now + 60n * second }),
        rootOf(2, { attributes: { ...tool, 'gen_ai.agent.id': 'A-Z', 'gen_ai.conversation.id': 'c' } }),
        rootOf(3, { attributes: { ...cost, 'agent_platform.cost.nano_usd': 9 }, error: 'x' }),
      ]),
      request([rootOf(4, { attributes: { 'agent_platform.work_item.id': newId() } })], 'other'),
    ]);
    expect(await list({})).toEqual([4, 3, 2, 1]);
    expect(await list({}, 'duration')).toEqual([1, 4, 3, 2]);
    expect(await list({}, 'cost')).toEqual([1, 3, 4, 2]);
    expect(await list({ status: 'error' })).toEqual([3]);
    expect(await list({ status: 'ok', model: 'm:x' })).toEqual([1]);
    expect(await list({ model: 'm' })).toEqual([]);
    expect(await list({ tool: 'pay', agent_id: 'A-Z', conversation_id: 'c' })).toEqual([2]);
    expect(await list({ service: 'other' })).toEqual([4]);
    expect(await list({ min_duration_ms: 1_001 })).toEqual([1]);
    expect(await list({ max_duration_ms: 1_000, model: 'm:x' })).toEqual([3]);
    expect(await list({ min_cost_nano_usd: 9 }, 'cost')).toEqual([1, 3]);
    expect(await list({ max_cost_nano_usd: 499 })).toEqual([3]);
    expect(await list({ work_item_id: 'no id' })).toEqual([]);
    const ms = Number(now / 1_000_000n);
    expect(await list({ from: ms + 2_000, to: ms + 4_000 })).toEqual([3, 2]);
  });

  test('odd spans are stored and shown: cyclic parents, years 1970 and 2262, nonsense numbers, texts that a database refuses', async () => {
    await clear();
    const text = `\0 \ud83d ${'x'.repeat(2_000)}`;
    const far = 2n ** 63n;
    const odd: TestSpan[] = [
      rootOf(1, { spanId: hex(1, 8), parentSpanId: hex(2, 8), start: 0n, end: 0n, name: '' }),
      rootOf(1, { spanId: hex(2, 8), parentSpanId: hex(1, 8), start: 1_000n, end: far }),
      rootOf(1, { spanId: hex(3, 8), parentSpanId: hex(3, 8), start: far, end: 5n }),
      rootOf(1, {
        spanId: hex(4, 8),
        parentSpanId: hex(99, 8),
        name: text,
        start: 2n ** 64n - 1n,
        end: 2n ** 64n - 1n,
      }),
      rootOf(2, {
        attributes: {
          ...chat,
          'gen_ai.request.model': text,
          'gen_ai.agent.id': text,
          'error.type': text,
          'gen_ai.usage.input_tokens': 2 ** 60,
          'agent_platform.cost.nano_usd': 2 ** 62,
          'agent_platform.work_item.id': 'no id',
        },
      }),
    ];
    for (let i = 0; i < 3; i++) {
      odd.push(
        rootOf(3, { spanId: hex(10 + i, 8), attributes: { ...chat, 'agent_platform.cost.nano_usd': 8e15 } }),
      );
    }
    const huge = rootOf(4, { attributes: { 'input.value': 'y'.repeat(10_000_000) } });
    const log = newId();
    expect(await writer().store(log, 0, [request(odd), request([huge])])).toBe(odd.length + 1);
    const trace = (await readTrace(open(), await rowsOf(1)))!;
    expect(trace.missingParents).toEqual([hex(99, 8)]);
    const [, long, ...rest] = trace.spans.map(({ duration_us }) => duration_us);
    expect(long).toBeCloseTo(2 ** 63 / 1_000, -1);
    expect(rest).toEqual([0, 0]);
    expect((await rowsOf(2))[0]).toMatchObject({ tokens: 5, cost_nano_usd: null, work_item_id: null });
    expect((await rowsOf(3))[0]).toMatchObject({ cost_nano_usd: 9e15 });
    const span = (await readSpan(open(), await rowsOf(4), hex(4, 8)))!;
    expect(span.attributes['input.value']).toHaveLength(10_000_000);
    expect(span.has_content).toBe(true);
  });

  test('the keeper rests while nothing is stored; then the open part of that time is written to, and looked at at once', async () => {
    await clear();
    const settings = { get: () => defaultSettings, onChange: () => {}, inTransaction: () => {} };
    const one: TraceWriter = new TraceWriter(open(), (bytes) => keeper.wrote(bytes));
    const keeper = new PartKeeper({ db: open(), settings, writer: one, log: silentLogger });
    let looks = 0;
    open().onStatement(({ text }) => {
      if (text.includes('from trace_parts p order by id')) looks++;
    });
    keeper.start();
    await until(() => keeper.pass().idle_ms !== null);
    // Another replica begins a part.
    const before = (await run(findOpenPart))!;
    const began = await open().tx(async (tx) => {
      await lockParts(tx);
      return beginPart(tx, before);
    });
    const seen = looks;
    await one.store(newId(), 0, [request([rootOf(1)])]);
    await until(() => looks > seen);
    await keeper.stop();
    open().onStatement(() => {});
    const filled = (await run(listParts)).filter(({ isEmpty }) => !isEmpty);
    expect(filled.map(({ id }) => id)).toEqual([began]);
    expect(began).not.toBe(before);
  });

  test('parts begin and end by size and age, the oldest go first and are counted, also while they are read', async () => {
    await clear();
    const settings: Settings = { ...defaultSettings, TRACE_RETENTION_MB: 4, TRACE_RETENTION_DAYS: 2 };
    const current = { get: () => settings, onChange: () => {}, inTransaction: () => {} };
    const one: TraceWriter = new TraceWriter(open(), (bytes) => keeper.wrote(bytes));
    const keeper = new PartKeeper({ db: open(), settings: current, writer: one, log: silentLogger });
    const log = newId();
    const before = await run(readStoreState);
    const noise = () => randomBytes(250_000).toString('hex');
    let ordinal = 0;
    const put = async (n: number): Promise<void> => {
      await one.store(log, ordinal++, [request([rootOf(n, { attributes: { noise: noise() } })])]);
    };
    for (let n = 1; n <= 24; n++) {
      await put(n);
      await keeper.check();
    }
    // A trace goes on in the part in which it began, as long as that is there.
    await one.store(log, ordinal++, [request([rootOf(23, { spanId: hex(1_000, 8) })])]);
    expect(await rowsOf(23)).toHaveLength(1);
    const parts = await run(listParts);
    expect(parts.length).toBeGreaterThan(4);
    expect(parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(5 * 1024 * 1024);
    const kept = await list({});
    expect(kept[0]).toBe(24);
    expect(kept.length).toBeLessThan(24);
    expect((await run(readStoreState)).expired - before.expired).toBe(25 - (await storedSpans()));

    // A reader of a part that is dropped in the meantime finds nothing, without an error.
    const rows = await rowsOf(kept.at(-1)!);
    await open().tx(dropAllParts);
    expect(await readTrace(open(), rows)).toBeNull();
    expect((await run(readStoreState)).expired - before.expired).toBe(25);
    // The writer notices that its part is gone.
    await put(61);
    expect(await list({})).toEqual([61]);

    const later = (days: number) =>
      run((executor) =>
        sql`update trace_parts set began_at = began_at - make_interval(days => ${days}),
          ended_at = ended_at - make_interval(days => ${days})`.execute(executor),
      );
    await later(1);
    await keeper.check();
    await put(62);
    expect(new Set((await run(listParts)).map(({ ended_at }) => ended_at === null))).toEqual(
      new Set([true, false]),
    );
    await later(2);
    await keeper.check();
    expect(await list({})).toEqual([62]);
  });
});
