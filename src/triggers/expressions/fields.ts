import { compileExpression, type Expression } from './cel.ts';
import { compileTemplate, type Template } from './template.ts';

/** The fields of a trigger that have expressions. */
export interface ExpressionFields {
  filter: string | null;
  mapping: { message: string; work_item_name: string | null; payload: string | null };
  dedup: { key: string; window_seconds: number | null } | null;
}

export interface CompiledFields {
  filter: Expression | null;
  message: Template;
  workItemName: Template | null;
  payload: Expression | null;
  key: Expression | null;
}

const expression = (text: string): Expression => {
  const compiled = compileExpression(text);
  if ('message' in compiled) throw new Error(compiled.message);
  return compiled;
};

const template = (text: string): Template => {
  const compiled = compileTemplate(text);
  if ('problem' in compiled) throw new Error(compiled.problem.message);
  return compiled.template;
};

/** Compiles the expressions of a trigger, which were checked when it was written. Throws if one is wrong all the same. */
export const compileFields = ({ filter, mapping, dedup }: ExpressionFields): CompiledFields => ({
  filter: filter === null ? null : expression(filter),
  message: template(mapping.message),
  workItemName: mapping.work_item_name === null ? null : template(mapping.work_item_name),
  payload: mapping.payload === null ? null : expression(mapping.payload),
  key: dedup === null ? null : expression(dedup.key),
});
