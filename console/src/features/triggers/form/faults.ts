import { ApiProblem, type Fault } from '../../../api/index.ts';
import { triggerForm as words } from '../../../text/en/trigger-form.ts';

/** A fault of an expression says where it is: columns are counted from 1. */
const withColumn = ({ path, message, column }: Fault & { column?: unknown }): Fault => ({
  path,
  message: typeof column === 'number' ? words.atColumn(message.replace(/\.$/, ''), column) : message,
});

/** Puts the column of each fault into its message. */
export const withColumns = (refusal: unknown): unknown =>
  refusal instanceof ApiProblem && refusal.details.length > 0
    ? new ApiProblem(refusal.status, { ...refusal.fields, details: refusal.details.map(withColumn) })
    : refusal;
