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
  params: Params<O>;
  first: V;
  toBody: (values: V) => Body<O>;
  created?: string;
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
