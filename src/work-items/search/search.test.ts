import { beforeAll, expect, test } from 'vitest';
import { onPostgres } from '../../../tests/harness/database.ts';
import { sql } from '../../database/index.ts';
import { statuses } from '../states.ts';
import { sourceOf, sources, type WorkItemSearch } from './conditions.ts';
import {
  countByStatus,
  countNewer,
  listMatchingIds,
  type Position,
  type Sort,
  searchWorkItems,
  sorts,
} from './search.ts';

interface Row {
  id: string;
  agent_id: string;
  schedule_id: string | null;
  occurrence: Date | null;
  by_person: boolean;
  created_by: string;
  trigger_id: string | null;
  work_item_name: string | null;
  status: (typeof statuses)[number];
  code: string | null;
  created_at: Date;
  updated_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  cost_nano_usd: number;
}

const uuidOf = (kind: number, n: number) =>
  `0${kind}9a0000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const names = ['Nightly close', 'nightly sweep', 'Invoice 1', 'Invoice 12', '1ab', null];
const codes = ['max_steps', 'model_unavailable'];
const begin = Date.UTC(2026, 0, 1);

/** The same numbers in each run. */
const randomFrom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
};

const makeRows = (): Row[] => {
  const random = randomFrom(7);
  return Array.from({ length: 300 }, (_, n) => {
    const status = statuses[random(statuses.length)]!;
    // Several are of the same time.
    const created = begin + random(60) * 60_000;
    const ended = ['COMPLETED', 'ERROR', 'CANCELLED'].includes(status) ? created + random(20) * 30_000 : null;
    const began = ended === null || random(5) === 0 ? null : ended - random(10) * 1_000;
    const schedule = random(2) === 0 ? uuidOf(3, random(4)) : null;
    const isFired = schedule !== null && random(4) > 0;
    const isTriggered = schedule === null && random(3) === 0;
    return {
      id: uuidOf(1 + random(2), n * 7_919),
      agent_id: uuidOf(2, random(3)),
      schedule_id: schedule,
      // Unique for each schedule.
      occurrence: isFired ? new Date(begin + n) : null,
      by_person: !isFired && !isTriggered && random(3) === 0,
      created_by: isTriggered ? 'trigger' : 'x',
      trigger_id: isTriggered ? uuidOf(4, random(3)) : null,
      work_item_name: names[random(names.length)]!,
      status,
      code: status === 'ERROR' || status === 'INDETERMINATE' ? codes[random(2)]! : null,
      created_at: new Date(created),
      updated_at: new Date(begin + random(90) * 60_000),
      cost_nano_usd: random(5),
      started_at: began === null ? null : new Date(began),
      finished_at: ended === null ? null : new Date(ended),
    };
  });
};

const begins = (text: string | null, q: string) => text?.toLowerCase().startsWith(q.toLowerCase()) ?? false;

const matches = (row: Row, search: WorkItemSearch): boolean => {
  const at = (time: Date | null, from?: number, to?: number) =>
    (from === undefined || (time !== null && time.getTime() >= from)) &&
    (to === undefined || (time !== null && time.getTime() < to));
  return (
    (search.status?.includes(row.status) ?? true) &&
    (search.ids?.includes(row.id) ?? true) &&
    (search.agent_id?.includes(row.agent_id) ?? true) &&
    (search.schedule_id === undefined || row.schedule_id === search.schedule_id) &&
    (search.trigger_id === undefined || row.trigger_id === search.trigger_id) &&
    (search.source === undefined || sourceOf(row) === search.source) &&
    (search.error_code === undefined || row.code === search.error_code) &&
    at(row.created_at, search.created_from, search.created_to) &&
    at(row.finished_at, search.finished_from, search.finished_to) &&
    row.cost_nano_usd >= (search.min_cost_nano_usd ?? 0) &&
    (search.q === undefined || begins(row.work_item_name, search.q) || begins(row.id, search.q))
  );
};

/** The first value decides, then the next, each the larger first. */
const orders: Record<Sort, (row: Row) => number[]> = {
  created: (row) => [row.created_at.getTime()],
  finished: (row) => (row.finished_at ? [1, row.finished_at.getTime()] : [0, row.created_at.getTime()]),
  duration: ({ started_at, finished_at, created_at }) => {
    if (!finished_at) return [0, created_at.getTime()];
    return [1, started_at ? finished_at.getTime() - started_at.getTime() : -1];
  },
  waiting: (row) =>
    ['NEEDS_REVIEW', 'INDETERMINATE'].includes(row.status)
      ? [1, -row.updated_at.getTime()]
      : [0, row.created_at.getTime()],
  cost: ({ cost_nano_usd }) => [cost_nano_usd],
};

const sorted = (rows: Row[], sort: Sort): string[] =>
  rows
    .map((row) => ({ id: row.id, key: orders[sort](row) }))
    .sort((a, b) => {
      const at = a.key.findIndex((value, i) => value !== b.key[i]);
      if (at !== -1) return b.key[at]! - a.key[at]!;
      // For the same time the later id comes first, but Work Items that wait are in the order of their ids.
      const later = a.id < b.id ? 1 : -1;
      return sort === 'waiting' && a.key[0] === 1 ? -later : later;
    })
    .map(({ id }) => id);

const randomSearch = (n: number, random: (below: number) => number, rows: Row[]): WorkItemSearch => {
  const some = <T>(value: () => T): T | undefined => (random(3) === 0 ? value() : undefined);
  const moment = () => begin + random(70) * 60_000;
  const texts = [
    'nightly',
    'INVOICE 1',
    '1',
    '0',
    'zzz',
    '%',
    rows[random(300)]!.id.slice(0, 1 + random(36)),
  ];
  return {
    status: n === 0 ? [] : some(() => statuses.filter(() => random(2) === 0)),
    agent_id: some(() => [0, 1, 2, 9].filter(() => random(2) === 0).map((n) => uuidOf(2, n))),
    schedule_id: random(6) === 0 ? uuidOf(3, random(5)) : undefined,
    trigger_id: random(6) === 0 ? uuidOf(4, random(4)) : undefined,
    source: some(() => sources[random(sources.length)]!),
    error_code: random(6) === 0 ? codes[random(2)] : undefined,
    created_from: random(6) === 0 ? moment() : undefined,
    created_to: random(6) === 0 ? moment() : undefined,
    finished_from: random(8) === 0 ? moment() : undefined,
    finished_to: random(8) === 0 ? moment() : undefined,
    min_cost_nano_usd: random(8) === 0 ? random(4) : undefined,
    q: some(() => texts[random(texts.length)]!),
    ids: random(8) === 0 ? rows.filter(() => random(3) === 0).map(({ id }) => id) : undefined,
  };
};

onPostgres((_name, open) => {
  const rows = makeRows();
  beforeAll(async () => {
    await open().tx((tx) =>
      sql`insert into work_items (id, agent_id, schedule_id, occurrence, trigger_id, by_person, work_item_name, message, payload,
          status, error, created_by, created_at, updated_at, cost_nano_usd, started_at, finished_at, conversation_id,
          lease_expires_at)
        select id, agent_id, schedule_id, occurrence, trigger_id, by_person, work_item_name, '', '{}', status,
          case when code is not null then jsonb_build_object('code', code) end, created_by, created_at, updated_at, cost_nano_usd,
          started_at,
          finished_at, id, case when status = 'EXECUTING' then now() end
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as r(id uuid, agent_id uuid, schedule_id uuid,
          occurrence timestamptz, trigger_id uuid, by_person boolean, created_by text, work_item_name text, status text, code text, created_at timestamptz,
          updated_at timestamptz, cost_nano_usd bigint, started_at timestamptz, finished_at timestamptz)`.execute(
        tx,
      ),
    );
  });

  test('a search finds what matches, in its order and page by page, whichever way it is read', async () => {
    const random = randomFrom(11);
    for (let n = 0; n < 24; n++) {
      const search = randomSearch(n, random, rows);
      const sort = sorts[n % sorts.length]!;
      const expected = sorted(
        rows.filter((row) => matches(row, search)),
        sort,
      );
      // All are read and sorted, or none, or those of some statuses.
      for (const few of [undefined, 0, 5]) {
        const found: string[] = [];
        let after: Position | null = null;
        const limit = 10 + random(90);
        for (;;) {
          const page: Position[] = await open().run((executor) =>
            searchWorkItems(executor, search, { sort, after, limit, ...(few !== undefined && { few }) }),
          );
          found.push(...page.map(({ id }) => id));
          if (page.length < limit) break;
          after = page.at(-1)!;
        }
        expect(found, JSON.stringify({ search, sort, few })).toEqual(expected);
      }
    }
  });

  test('counts are those of what matches, up to their cap', async () => {
    const random = randomFrom(13);
    for (let n = 0; n < 20; n++) {
      const search = randomSearch(n, random, rows);
      const all = rows.filter((row) => matches(row, { ...search, status: undefined }));
      for (const cap of [1_000, 4]) {
        const counts = await open().run((executor) => countByStatus(executor, search, cap));
        const expected = statuses.map((status) => [
          status,
          Math.min(cap, all.filter((row) => row.status === status).length),
        ]);
        expect(counts, JSON.stringify({ search, cap })).toEqual(Object.fromEntries(expected));
      }
      const than = rows[random(300)]!;
      const newer = sorted(rows, 'created').slice(0, sorted(rows, 'created').indexOf(than.id));
      const matching = new Set(rows.filter((row) => matches(row, search)).map(({ id }) => id));
      const expected = newer.filter((id) => matching.has(id)).length;
      const count = await open().run((executor) => countNewer(executor, search, than, 20));
      expect(count, JSON.stringify({ search, than: than.id })).toBe(Math.min(20, expected));
      const ids = await open().run((executor) => listMatchingIds(executor, search, 1_000));
      const oldestFirst = sorted(rows, 'created')
        .filter((id) => matching.has(id))
        .toReversed();
      expect(ids, JSON.stringify(search)).toEqual(oldestFirst);
    }
  });
});
