import { useState } from 'react';
import { type Form, useForm } from './form.ts';
import { useInvalidate, useSetCached } from './query.ts';
import { ApiProblem, type Reply, request } from './request.ts';

/** A form that changes one thing, and what to do when someone else changed it in the meantime. */
export interface EditForm<T, V extends object> {
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
}

/**
 * The form of a page that edits the thing at `path`. `loaded` is what `useGet(path)` returned. `save` sends the values
 * with the ETag (`ifMatch`); a 412 loads the version of the other person, for `Conflict`. While nothing is changed in the
 * form, it follows what is loaded.
 */
export const useEditForm = <T, V extends object>({
  path,
  loaded,
  toValues,
  save,
  invalidates = [],
}: {
  path: string;
  loaded: Reply<T>;
  toValues: (thing: T) => V;
  save: (values: V, etag: string | null) => Promise<Reply<T>>;
  /** Paths of lists and other things that show the change. */
  invalidates?: readonly string[];
}): EditForm<T, V> => {
  const [base, setBase] = useState(loaded);
  const [other, setOther] = useState<Reply<T> | null>(null);
  const setCached = useSetCached();
  const invalidate = useInvalidate();
  const write = async (values: V, etag: string | null) => {
    try {
      const reply = await save(values, etag);
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
  const form = useForm(toValues(base.body), (values) => write(values, base.etag));
  if (loaded.etag !== base.etag && !form.dirty && !form.busy && other === null) {
    setBase(loaded);
    form.reset(toValues(loaded.body));
  }
  return {
    form,
    saved: base.body,
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
