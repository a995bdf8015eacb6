import { matching } from '../names.ts';
import { notSupported } from '../refusal.ts';
import type { ResolvedOrder, Typed } from '../resolved.ts';
import type { Expression, OrderItem, Select } from '../tree.ts';
import { keyOf } from '../walk.ts';
import { type Place, resolveExpression } from './expression.ts';

/** An expression with ordinals and aliases of ORDER BY and GROUP BY replaced. */
type ByOutput = { output: number } | { expression: Expression };

/** An ordinal or the name of an output, else the expression itself. */
export const byOutput = (expression: Expression, names: readonly string[], clause: string): ByOutput => {
  if (expression.kind === 'constant' && expression.type === 'Integer' && !expression.bound) {
    const output = Number(expression.value) - 1;
    if (output < 0 || output >= names.length)
      throw notSupported(`${clause} ${output + 1} is no column of the SELECT.`, clause, expression.at);
    return { output };
  }
  if (expression.kind !== 'column' || expression.table !== null) return { expression };
  const found = matching([...names.keys()], expression.name, (i) => names[i]!);
  return found.length > 0 ? { output: found[0]! } : { expression };
};

/** ORDER BY of a SELECT; what is the same in every row is left out. */
export const resolveOrder = (
  select: Select,
  outputs: { name: string; value: Typed }[],
  place: Place,
): ResolvedOrder[] => {
  const names = outputs.map(({ name }) => name);
  const keys = outputs.map(({ value }) => keyOf(value));
  return select.order.flatMap((item: OrderItem<Expression>): ResolvedOrder[] => {
    const found = byOutput(item.expression, names, 'ORDER BY');
    if ('output' in found)
      return [{ ...item, expression: outputs[found.output]!.value, output: found.output }];
    const expression = resolveExpression(found.expression, place);
    // A constant is the same in every row.
    if (expression.kind === 'constant') return [];
    const output = keys.indexOf(keyOf(expression));
    if (select.distinct && output === -1)
      throw notSupported(
        'With DISTINCT, ORDER BY must name columns of the SELECT.',
        'ORDER BY',
        expression.at,
      );
    return [{ ...item, expression, output: output === -1 ? null : output }];
  });
};
