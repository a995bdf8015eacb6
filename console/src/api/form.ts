import { useEffect, useRef, useState } from 'react';
import { ApiProblem, type Fault } from './request.ts';
import { useUnsaved } from './unsaved.ts';

/** What a field of the form gets: pass it on with `{...form.field('name')}`. */
export interface FieldProps<V> {
  name: string;
  value: V;
  onChange: (value: V) => void;
  error: string | undefined;
}

/** What `useForm` returns. */
export interface Form<T extends object> {
  values: T;
  /** Whether a value differs from the first one. */
  dirty: boolean;
  busy: boolean;
  /** A failure that belongs to no field. */
  error: ApiProblem | null;
  /** The failure is that someone else changed the same thing (412). */
  conflict: boolean;
  field: <K extends keyof T & string>(name: K) => FieldProps<T[K]>;
  set: (patch: Partial<T>) => void;
  /** Starts again from other values. */
  reset: (values?: T) => void;
  /** Saves, in another way than `useForm` was given if `saveNow` is there. Resolves to whether that worked. */
  submit: (saveNow?: (values: T) => Promise<unknown>) => Promise<boolean>;
  clearError: () => void;
  /** The faults of paths that `field` has not asked for. */
  otherFaults: Fault[];
}

const same = (one: unknown, other: unknown): boolean =>
  Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other);

/** Whether a fault belongs to the field: `payload` has those of `payload.items[2]`. */
const belongs = (fault: Fault, name: string): boolean =>
  fault.path === name || fault.path.startsWith(`${name}.`) || fault.path.startsWith(`${name}[`);

/** Names the faults of a request as the form names its fields: `settings.url` as `url`. */
export const withFaultPaths = async <T>(saving: Promise<T>, rename: (path: string) => string): Promise<T> => {
  try {
    return await saving;
  } catch (error) {
    if (!(error instanceof ApiProblem)) throw error;
    const details = error.details.map(({ path, message }) => ({ path: rename(path), message }));
    throw new ApiProblem(error.status, { ...error.fields, details });
  }
};

/**
 * The state of a form. The API is the validator: `save` sends the values, and the `details` of a 422 become the errors of
 * fields by their path. The first field with an error gets the focus. A value that is changed loses its error. Who leaves
 * the page with changes that are not saved is asked before.
 */
export const useForm = <T extends object>(first: T, save: (values: T) => Promise<unknown>): Form<T> => {
  const [initial, setInitial] = useState(first);
  const [values, setValues] = useState(first);
  const [faults, setFaults] = useState<Fault[]>([]);
  const [error, setError] = useState<ApiProblem | null>(null);
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const refused = useRef(false);
  const saved = useRef<T | null>(null);
  useEffect(() => {
    if (!refused.current || faults.length === 0) return;
    refused.current = false;
    document.querySelector<HTMLElement>('form :is([aria-invalid="true"], [data-invalid])')?.focus();
  }, [faults]);
  // A save may lead to another page before the form knows of its end.
  useUnsaved(() => !same(values, initial) && !running.current && saved.current !== values);
  const asked = new Set<string>();
  const set = (patch: Partial<T>) => {
    setValues((before) => ({ ...before, ...patch }));
    setFaults((before) => before.filter((fault) => !Object.keys(patch).some((name) => belongs(fault, name))));
  };
  return {
    values,
    dirty: !same(values, initial),
    busy,
    error,
    conflict: error?.status === 412,
    set,
    field: (name) => {
      asked.add(name);
      const found = faults.filter((fault) => belongs(fault, name));
      return {
        name,
        value: values[name],
        onChange: (value) => set({ [name]: value } as unknown as Partial<T>),
        error:
          found.map(({ path, message }) => (path === name ? message : `${path}: ${message}`)).join('; ') ||
          undefined,
      };
    },
    reset: (next = initial) => {
      setInitial(next);
      setValues(next);
      setFaults([]);
      setError(null);
    },
    clearError: () => setError(null),
    submit: async (saveNow = save) => {
      if (running.current) return false;
      running.current = true;
      setBusy(true);
      setFaults([]);
      setError(null);
      try {
        await saveNow(values);
        saved.current = values;
        return true;
      } catch (failure) {
        const problem = failure as ApiProblem;
        const details = problem instanceof ApiProblem ? problem.details : [];
        setFaults(details);
        if (details.length === 0) setError(problem);
        refused.current = details.length > 0;
        return false;
      } finally {
        running.current = false;
        setBusy(false);
      }
    },
    get otherFaults() {
      return faults.filter((fault) => ![...asked].some((name) => belongs(fault, name)));
    },
  };
};
