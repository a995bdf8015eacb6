import { useNavigate } from '@tanstack/react-router';
import {
  type Body,
  type ChangeId,
  type Form,
  type FormOptions,
  type InputOf,
  type Output,
  type Params,
  perform,
  useForm,
} from '../api/index.ts';
import { notify } from '../ui/index.ts';

/** The form that creates a thing. A double click, or a second attempt after a lost response, makes no second one. */
export const useCreateForm = <O extends ChangeId, V extends object>({
  operation,
  params,
  first,
  toBody,
  created,
  opens,
  onCreated,
  ...options
}: FormOptions & {
  operation: O;
  /** Those of its path. */
  params: Params<O>;
  /** The values at first. */
  first: V;
  toBody: (values: V) => Body<O>;
  /** What is said when it is there. */
  created?: string;
  /** The address of the page that opens then. */
  opens?: (thing: Output<O>) => string;
  onCreated?: (thing: Output<O>) => void;
}): Form<V> => {
  const navigate = useNavigate();
  return useForm(
    first,
    async (values: V) => {
      const { body } = await perform(
        operation,
        params,
        ...([{ body: toBody(values) }] as unknown as InputOf<O>),
      );
      if (created) notify(created);
      onCreated?.(body);
      if (opens) await navigate({ href: opens(body) });
    },
    options,
  );
};
