import { useState } from 'react';
import type { ChangeId } from './changes.ts';
import { type Form, type FormOptions, same, useForm } from './form.ts';
import { call, perform } from './mutation.ts';
import type { Body, InputOf, Output, Params, ReadId } from './operations.ts';
import { refresh, setCached } from './query.ts';
import { ApiProblem, type Reply } from './request.ts';

/** A form that changes one thing, and what to do when someone else changed it in the meantime. */
export interface Edit<T, V extends object> {
  form: Form<V>;
  /** The values that someone else saved, while the person decides; null otherwise. */
  theirs: V | null;
  keepTheirs: () => void;
  /** Saves one's own over theirs. Resolves to false if that failed. */
  writeMine: () => Promise<boolean>;
  /** Leaves the decision for later: the form keeps its values. */
  later: () => void;
  saved: T;
  secrets: readonly (keyof V)[];
  /** The values that a save changes: those of `saved`, or what someone else saved in the meantime. */
  before: () => V;
}

/**
 * The form of a page that edits the thing that `read` returns. `loaded` is what the page read. `change` gets what `toBody`
 * makes of the values, or of what differs from `before`, with the ETag of what was loaded. A 412 loads the version of the
 * other person, for `EditConflict`. While nothing is changed in the form, it follows what is loaded; then only what
 * changes other parts of the thing.
 */
export const useEditForm = <R extends ReadId, C extends ChangeId, V extends object>({
  read,
  change,
  params,
  loaded,
  toValues,
  toBody,
  keep = (changed) => changed,
  secrets = [],
  ...options
}: FormOptions & {
  read: R;
  change: C;
  params: Params<R> & Params<C>;
  loaded: Reply<Output<R>>;
  toValues: (thing: Output<R>) => V;
  toBody: (values: V, before: V) => Body<C>;
  /** Selects what is cached of the response, if that may show a secret once. */
  keep?: (changed: Output<C>) => Output<C>;
  /** The values that the API never shows: `before` has them as they were loaded. */
  secrets?: readonly (keyof V)[];
}): Edit<Output<R>, V> => {
  const [base, setBase] = useState(loaded);
  const [other, setOther] = useState<Reply<Output<R>> | null>(null);
  // "Write mine" changes all that someone else saved, except secrets, which it does not show.
  const before = (): V => {
    const own = toValues(base.body);
    if (!other) return own;
    return Object.assign(toValues(other.body), Object.fromEntries(secrets.map((name) => [name, own[name]])));
  };
  const write = async (values: V, ifMatch: string | null) => {
    try {
      const input = [{ body: toBody(values, before()), ifMatch }] as unknown as InputOf<C>;
      const { body, etag } = await perform(change, params, ...input);
      const reply: Reply<Output<R>> = { etag, body: Object.assign({}, base.body, keep(body)) };
      setOther(null);
      setBase(reply);
      form.reset(toValues(reply.body));
      setCached(read, params, reply);
      // The response may have less than what the page reads.
      void refresh(read);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 412) {
        setOther(await call(read, params, ...([] as unknown as InputOf<R>)));
      }
      throw error;
    }
  };
  const form = useForm(toValues(base.body), (values) => write(values, base.etag), options);
  if (loaded.etag !== base.etag && !form.busy && other === null) {
    if (!form.dirty) {
      setBase(loaded);
      form.reset(toValues(loaded.body));
    } else if (same(toValues(loaded.body), toValues(base.body))) {
      // A change outside of this form: often the person turned the thing off by a button of the page.
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
      setCached(read, params, other);
      setOther(null);
    },
    writeMine: () => form.submit((values) => write(values, other?.etag ?? base.etag)),
    later: () => {
      setOther(null);
      form.clearError();
    },
  };
};
