import { useEffect, useRef, useState } from 'react';
import { ApiProblem, type Fault } from './request.ts';
import { useUnsaved } from './unsaved.ts';

/** The properties of a field: pass them on with `{...form.field('name')}`. */
export interface FieldProps<V> {
  name: string;
  value: V;
  onChange: (value: V) => void;
  error: string | undefined;
  disabledReason: string | null | undefined;
}

export interface FormOptions {
  /** The reason why the person may not change anything. */
  disabledReason?: string | null | undefined;
  /** The field that shows a fault: `settings.url` of the API is `url` of the form. */
  fieldOf?: ((path: string) => string) | undefined;
  /** Gives a refusal without details those that its text has. */
  readRefusal?: ((refusal: unknown) => unknown) | undefined;
}

export interface Form<T extends object> {
  values: T;
  dirty: boolean;
  busy: boolean;
  error: ApiProblem | null;
  /** The last failure, also if fields show it. */
  refusal: ApiProblem | null;
  disabledReason: string | null | undefined;
  /** The failure is that someone else changed the same thing (412). */
  conflict: boolean;
  field: <K extends keyof T & string>(name: K) => FieldProps<T[K]>;
  /** What is wrong with a field and its parts, which have paths of their own: `steps[0].to`. */
  faultsOf: (name: keyof T & string) => Fault[];
  set: (patch: Partial<T>) => void;
  reset: (values?: T) => void;
  /** Saves, by `saveNow` if that is given. Resolves to false if that failed. */
  submit: (saveNow?: (values: T) => Promise<unknown>) => Promise<boolean>;
  /** Sends the values without saving: a test, a preview. Resolves to false if that failed. */
  attempt: (perform: (values: T) => Promise<unknown>) => Promise<boolean>;
  clearError: () => void;
  /** The faults of paths that `field` has not asked for. */
  otherFaults: Fault[];
}

export const same = (one: unknown, other: unknown): boolean =>
  Object.is(one, other) || JSON.stringify(one) === JSON.stringify(other);

/** Assigns faults to fields: `payload` has those of `payload.items[2]`. */
const belongs = (fault: Fault, name: string): boolean =>
  fault.path === name || fault.path.startsWith(`${name}.`) || fault.path.startsWith(`${name}[`);

/**
 * The state of a form. The API is the validator: `save` sends the values, and the `details` of a 422 become the errors of
 * fields by their path. The first field with an error gets the focus. A value that is changed loses its error. The person
 * is asked before they leave the page with changes that are not saved.
 */
export const useForm = <T extends object>(
  first: T,
  save: (values: T) => Promise<unknown>,
  { disabledReason, fieldOf = (path) => path, readRefusal = (refusal) => refusal }: FormOptions = {},
): Form<T> => {
  const [initial, setInitial] = useState(first);
  const [values, setValues] = useState(first);
  const [faults, setFaults] = useState<Fault[]>([]);
  const [refusal, setRefusal] = useState<ApiProblem | null>(null);
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
  const error = refusal?.details?.length ? null : refusal;
  const set = (patch: Partial<T>) => {
    setValues((before) => ({ ...before, ...patch }));
    setFaults((before) => before.filter((fault) => !Object.keys(patch).some((name) => belongs(fault, name))));
  };
  const send = async (perform: (values: T) => Promise<unknown>, saves: boolean): Promise<boolean> => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setFaults([]);
    setRefusal(null);
    try {
      await perform(values);
      if (saves) saved.current = values;
      return true;
    } catch (caught) {
      const failure = readRefusal(caught);
      const details = failure instanceof ApiProblem ? failure.details : [];
      setFaults(details.map(({ path, message }) => ({ path: fieldOf(path), message })));
      setRefusal(failure as ApiProblem);
      refused.current = details.length > 0;
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return {
    values,
    dirty: !same(values, initial),
    busy,
    error,
    refusal,
    disabledReason,
    conflict: error?.status === 412,
    set,
    faultsOf: (name) => faults.filter((fault) => belongs(fault, name)),
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
        disabledReason,
      };
    },
    reset: (next = initial) => {
      setInitial(next);
      setValues(next);
      setFaults([]);
      setRefusal(null);
    },
    clearError: () => setRefusal(null),
    submit: (saveNow = save) => send(saveNow, true),
    attempt: (perform) => send(perform, false),
    get otherFaults() {
      return faults.filter((fault) => ![...asked].some((name) => belongs(fault, name)));
    },
  };
};
