import { matching } from '../names.ts';
import { nearest } from '../nearest.ts';
import { notSupported, SqlRefusal } from '../refusal.ts';
import type { Typed } from '../resolved.ts';
import type { From } from '../tree.ts';
import { commonType } from '../types.ts';
import { widened } from './coerce.ts';
import type { Visible } from './scope.ts';

/** USING and NATURAL: each named column of both sides is one, and comes first. */
export const mergeColumns = (
  from: From & { kind: 'join' },
  left: Visible[],
  right: Visible[],
): { on: Typed | null; visible: Visible[] } => {
  const one = (columns: Visible[], name: string): Visible => {
    const [found, second] = matching(columns, name, (each) => each.name);
    if (found && !second) return found;
    const why = found ? 'is there twice' : 'does not exist';
    throw new SqlRefusal(
      'unknown_column',
      `The column \`${name}\` of USING ${why} on one side of the join.`,
      {
        name,
        position: from.at ?? null,
        suggestions: nearest(
          name,
          columns.map((each) => each.name),
        ),
      },
    );
  };
  const names =
    from.using ??
    left.map(({ name }) => name).filter((name) => matching(right, name, (each) => each.name).length > 0);
  const pairs = names.map((name) => [one(left, name), one(right, name)] as const);
  const conditions = pairs.map(([a, b]): Typed => {
    const [x, y] = [a.read(), b.read()];
    if (commonType(x.type, y.type) === null)
      throw notSupported(`USING of ${x.type} and ${y.type} is not supported.`, a.name, from.at);
    const type = commonType(x.type, y.type)!;
    return {
      kind: 'compare',
      operator: '=',
      left: widened(x, type),
      right: widened(y, type),
      type: 'Boolean',
    };
  });
  const merged = pairs.map(
    ([a, b]): Visible => ({
      name: a.name,
      table: null,
      read: () => {
        if (from.type === 'right') return b.read();
        if (from.type !== 'full') return a.read();
        const [x, y] = [a.read(), b.read()];
        return { kind: 'call', name: 'coalesce', args: [x, y], type: commonType(x.type, y.type) ?? x.type };
      },
    }),
  );
  const joined = new Set(pairs.flat());
  const rest = [...left, ...right].filter((column) => !joined.has(column));
  const [first, ...others] = conditions;
  const on: Typed | null =
    others.length > 0 ? { kind: 'and', args: conditions, type: 'Boolean' } : (first ?? null);
  return { on, visible: [...merged, ...rest] };
};
