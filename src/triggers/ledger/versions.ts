import type { z } from 'zod';
import type { Executor } from '../../database/index.ts';
import { positionCursor, readPosition, sortedPage } from '../../http/index.ts';
import {
  type DefinitionAction,
  listVersions,
  listVersionsBetween,
  type VersionRow,
} from '../definition-store.ts';
import type { version } from './schemas.ts';

export type Version = z.input<typeof version>;

const verbs: Record<DefinitionAction, string> = {
  create: 'created it',
  update: 'changed',
  pause: 'paused it',
  resume: 'resumed it',
  rotate_secret: 'rotated its secret',
};

const textOf = ({ action, principal, reason, changed }: VersionRow): string => {
  const what =
    action === 'update'
      ? changed && changed.length > 0
        ? `changed ${changed.map((field) => `\`${field}\``).join(', ')}`
        : 'saved it without a change'
      : verbs[action];
  return `${principal.name} ${what}${reason === null ? '' : `: ${reason}`}.`.replace(/([.!?])\.$/, '$1');
};

export const toVersions = (rows: readonly VersionRow[]): Version[] =>
  rows.map((row) => {
    const { trigger_id: _, from_at, principal, definition, ...rest } = row;
    return { ...rest, ...definition, at: from_at, by: principal, text: textOf(row) };
  });

export const versionsBetween = listVersionsBetween;

/** Returns a page of the versions of a trigger, newest first. */
export const pageOfVersions = async (
  executor: Executor,
  triggerId: string,
  { limit, next }: { limit: number; next?: string | undefined },
) => {
  const before = readPosition(next, 'revision', ['time'])?.[0] ?? null;
  const rows = await listVersions(executor, triggerId, { limit: limit + 1, before });
  return sortedPage(
    rows,
    limit,
    (row) => positionCursor('revision', [row.revision]),
    (row) => toVersions([row])[0]!,
  );
};
