import { compileExpression, type ExpressionProblem } from './cel.ts';
import type { ExpressionFields } from './fields.ts';
import { compileTemplate } from './template.ts';

/** A fault of an expression of a trigger, with the path of its field. */
interface FieldProblem extends ExpressionProblem {
  path: string;
}

/** What a key may not use when only the body, and some headers, of a delivery are signed. */
const unsignedFields = ['headers', 'source', 'subject', 'time'];

/** The fields of `event` that a key under `scheme` may not use, because they come from headers that no one signed. */
const unsignedUnder = (scheme: string): readonly string[] => {
  if (scheme === 'github') return [...unsignedFields, 'type', 'id'];
  return scheme === 'gitlab' ? [...unsignedFields, 'type'] : unsignedFields;
};

const expressionProblem = (path: string, text: string | null): FieldProblem[] => {
  if (text === null) return [];
  const compiled = compileExpression(text);
  return 'message' in compiled ? [{ path, message: compiled.message, column: compiled.column }] : [];
};

const templateProblem = (path: string, text: string | null): FieldProblem[] => {
  if (text === null) return [];
  const compiled = compileTemplate(text);
  return 'problem' in compiled ? [{ path, ...compiled.problem }] : [];
};

const keyProblem = (text: string, signedBy: string | null): FieldProblem[] => {
  const path = 'dedup.key';
  const compiled = compileExpression(text);
  if ('message' in compiled) return [{ path, message: compiled.message, column: compiled.column }];
  if (signedBy === null) return [];
  const { fields } = compiled;
  const isUnsigned = fields === null || unsignedUnder(signedBy).some((field) => fields.has(field));
  return isUnsigned ? [{ path, message: 'headers are not signed by this scheme', column: 1 }] : [];
};

/**
 * Returns the faults of a trigger's expressions: syntax, unknown variables and functions. `signedBy` is the scheme of a
 * webhook whose deliveries are signed, else null: its key sees only what is signed.
 */
export const expressionProblems = (
  { filter, mapping, dedup }: ExpressionFields,
  signedBy: string | null,
): FieldProblem[] => [
  ...expressionProblem('filter', filter),
  ...templateProblem('mapping.message', mapping.message),
  ...templateProblem('mapping.work_item_name', mapping.work_item_name),
  ...expressionProblem('mapping.payload', mapping.payload),
  ...(dedup === null ? [] : keyProblem(dedup.key, signedBy)),
];
