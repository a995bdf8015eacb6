import { type Executor, sql } from '../../database/index.ts';
import { type Attention, linesOf } from '../../lib/attention.ts';
import { isolate } from '../../lib/prose.ts';
import type { EndedCanary } from '../store.ts';
import type { GateFigures } from './gatekeeper.ts';

/** Versions that need attention: drafts that a gate blocked, and canaries that the platform ended. */

interface Row {
  id: string;
  name: string;
  version: number;
  published: number;
  since: Date;
}

interface BlockedRow extends Row {
  gate: GateFigures;
}

interface EndedRow extends Row {
  reason: EndedCanary['reason'];
}

/** The agents whose last verdict since `from` is that their draft is worse. */
const listBlocked = async (executor: Executor, from: Date): Promise<BlockedRow[]> => {
  const { rows } = await sql<BlockedRow>`select a.id, a.name, p.version, a.version as published, p.gate,
      p.finished_at as since
    from agents a cross join lateral (select state, version, gate, finished_at from agent_publications
      where agent_id = a.id and state in ('published', 'passed', 'blocked') order by id desc limit 1) p
    where a.gate is not null and p.state = 'blocked' and p.finished_at > ${from} order by p.finished_at, a.id`.execute(
    executor,
  );
  return rows;
};

/** The agents whose last canary the platform ended since `from`, without a canary or publication since then. */
const listEndedCanaries = async (executor: Executor, from: Date): Promise<EndedRow[]> => {
  const { rows } =
    await sql<EndedRow>`select a.id, a.name, (a.ended_canary ->> 'version')::integer as version,
      a.version as published, a.ended_canary ->> 'reason' as reason, (a.ended_canary ->> 'at')::timestamptz(3) as since
    from agents a where a.ended_canary is not null and a.canary is null
      and (a.ended_canary ->> 'at')::timestamptz > ${from} and not exists (
        select from agent_publications p where p.agent_id = a.id and p.state = 'published'
          and p.finished_at > (a.ended_canary ->> 'at')::timestamptz)
    order by since, a.id`.execute(executor);
  return rows;
};

const subjectOf = ({ id, name }: Row) => ({ type: 'agent' as const, id, name });
const points = (score: number | null): string => (score === null ? '?' : String(Math.round(100 * score)));

const blockedLine = (row: BlockedRow): Attention => ({
  kind: 'publish_blocked',
  severity: 'warning',
  count: 1,
  since: row.since,
  subject: subjectOf(row),
  title: `The gate blocked version ${row.version} of ${isolate(row.name)}`,
  detail: `On ${row.gate.cases} cases it has ${points(row.gate.after)} points, and the published version ${points(row.gate.before)}. Version ${row.published} runs.`,
  filter: {},
});

const endedLine = (row: EndedRow): Attention => ({
  kind: 'canary_aborted',
  severity: row.reason === 'error_rate' ? 'warning' : 'info',
  count: 1,
  since: row.since,
  subject: subjectOf(row),
  title: `The canary of version ${row.version} of ${isolate(row.name)} was aborted`,
  detail: `${row.reason === 'error_rate' ? 'More of its runs failed than it allows.' : 'Its time is over, and no one promoted it.'} Version ${row.published} runs.`,
  filter: {},
});

/** Returns the lines of the Overview on versions, since `from`. */
export const versionAttention = async (executor: Executor, from: Date): Promise<Attention[]> => {
  const [blocked, ended] = [await listBlocked(executor, from), await listEndedCanaries(executor, from)];
  return [
    ...linesOf(blocked, blockedLine, () => ({
      count: blocked.length,
      title: `Gates blocked drafts of ${blocked.length} agents`,
    })),
    ...linesOf(ended, endedLine, () => ({
      count: ended.length,
      title: `Canaries of ${ended.length} agents were aborted`,
    })),
  ];
};
