import type { Form } from '../../api/index.ts';
import type { RouteValues } from './values.ts';

/** Faults of the API for the rows of a list: at their fields, as far as the page shows those. */
export const rowErrors = (
  form: Form<RouteValues>,
  list: 'steps' | 'conditions',
  parts: readonly string[],
): { at: (row: number, part: string) => string | undefined; rest: string | undefined } => {
  const faults = form.faultsOf(list).map(({ path, message }) => {
    const [, row, part] = /\[(\d+)\]\.(\w+)/.exec(path) ?? [];
    return { path, message, row: Number(row), part: parts.find((one) => one === part) };
  });
  const rest = faults.filter(({ part }) => part === undefined);
  return {
    at: (row, part) =>
      faults
        .filter((fault) => fault.row === row && fault.part === part)
        .map(({ message }) => message)
        .join('; ') || undefined,
    rest:
      rest.map(({ path, message }) => (path === list ? message : `${path}: ${message}`)).join('; ') ||
      undefined,
  };
};
