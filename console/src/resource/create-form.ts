import { useNavigate } from '@tanstack/react-router';
import { type Form, type FormOptions, useCreate, useForm, useInvalidate } from '../api/index.ts';
import { notify } from '../ui/index.ts';

/** The form that creates a thing by a POST. A double click, or a second attempt after a lost response, makes no second one. */
export const useCreateForm = <T, V extends object>({
  first,
  post,
  toBody,
  invalidates,
  created,
  opens,
  onCreated,
  ...options
}: FormOptions & {
  /** The values at first. */
  first: V;
  /** The path of the API. */
  post: string;
  toBody: (values: V) => object;
  /** Paths of lists and other things that show the new one. */
  invalidates: readonly string[];
  /** What is said when it is there. */
  created?: string;
  /** The address of the page that opens then. */
  opens?: (thing: T) => string;
  onCreated?: (thing: T) => void;
}): Form<V> => {
  const create = useCreate();
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  return useForm(
    first,
    async (values: V) => {
      const { body } = await create<T>(post, toBody(values));
      if (created) notify(created);
      onCreated?.(body);
      if (opens) await navigate({ href: opens(body) });
      await invalidate(...invalidates);
    },
    options,
  );
};
