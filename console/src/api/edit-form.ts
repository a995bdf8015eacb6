import { useState } from 'react';
import { type Form, type FormOptions, same, useForm } from './form.ts';
import { useInvalidate, useSetCached } from './query.ts';
import { ApiProblem, type Reply, request } from './request.ts';

/** A form that changes one thing, and what to do when someone else changed it in the meantime. */
export interface Edit<T, V extends object> {
  form: Form<V>;
  /** The values that someone else saved, while the person decides; null otherwise. */
  theirs: V | null;
  /** Shows their values instead of one's own. */
  keepTheirs: () => void;
  /** Saves one's own over theirs. Resolves to whether that worked. */
  writeMine: () => Promise<boolean>;
  /** Leaves the decision for later: the form keeps its values. */
  later: () => void;
  /** The thing as it was loaded or last saved. */
  saved: T;
  /** The values that the API never shows. */
  secrets: readonly (keyof V)[];
  /** The values that a save changes: those of `saved`, or what someone else saved in the meantime. */
  before: () => V;
}

/**
 * The form of a page that edits the thing at `path`. `loaded` is what `useGet(path)` returned. `save` sends the values,
 * or what differs from `before`, with the ETag (`ifMatch`), and resolves to the thing or the part of it that the API
 * returns. A 412 loads the version of the other person, for `EditConflict`. While nothing is changed in the form, it
 * follows what is loaded; then only what changes other parts of the thing.
 */
export const useEditForm = <T, V extends object>({
  path,
  loaded,
  toValues,
  save,
  secrets = [],
  invalidates = [],
  ...options
}: FormOptions & {
  path: string;
  loaded: Reply<T>;
  toValues: (thing: T) => V;
  save: (values: V, ifMatch: string | null, before: V) => Promise<Reply<Partial<T>>>;
  /** The values that the API never shows: `before` has them as they were loaded. */
  secrets?: readonly (keyof V)[];
  /** Paths of lists and other things that show the change. */
  invalidates?: readonly string[];
}): Edit<T, V> => {
  const [base, setBase] = useState(loaded);
  const [other, setOther] = useState<Reply<T> | null>(null);
  const setCached = useSetCached();
  const invalidate = useInvalidate();
  // "Write mine" changes all that someone else saved, except secrets, which it does not show.
  const before = (): V => {
    const own = toValues(base.body);
    if (!other) return own;
    return Object.assign(toValues(other.body), Object.fromEntries(secrets.map((name) => [name, own[name]])));
  };
  const write = async (values: V, etag: string | null) => {
    try {
      const changed = await save(values, etag, before());
      const reply = { ...changed, body: { ...base.body, ...changed.body } };
      setOther(null);
      setBase(reply);
      form.reset(toValues(reply.body));
      setCached(path, reply);
      void invalidate(...invalidates);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 412) setOther(await request<T>('GET', path));
      throw error;
    }
  };
  const form = useForm(toValues(base.body), (values) => write(values, base.etag), options);
  if (loaded.etag !== base.etag && !form.busy && other === null) {
    if (!form.dirty) {
      setBase(loaded);
      form.reset(toValues(loaded.body));
    } else if (same(toValues(loaded.body), toValues(base.body))) {
      // What changed is not in this form: often the person turned the thing off by a button of the page.
      setBase(loaded);
    }
  }
  return {
    form,
    saved: base.body,
    secrets,
    before,
    theirs: other && toValues(other.body),
    keepTheirs: () => {
      if (!other) return;
      setBase(other);
      form.reset(toValues(other.body));
      setCached(path, other);
      setOther(null);
    },
    writeMine: () => form.submit((values) => write(values, other?.etag ?? base.etag)),
    later: () => {
      setOther(null);
      form.clearError();
    },
  };
};
