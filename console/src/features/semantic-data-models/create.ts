import type { Body, Form } from '../../api/index.ts';
import { useCreateForm } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';

export const useModelForm = <
  O extends 'createSemanticDataModel' | 'importSemanticDataModel',
  V extends object,
>(
  operation: O,
  first: V,
  toBody: (values: V) => Body<O>,
  disabledReason: string | null,
): Form<V> =>
  useCreateForm<'createSemanticDataModel' | 'importSemanticDataModel', V>({
    operation,
    params: {},
    first,
    toBody,
    disabledReason,
    created: words.created,
    opens: ({ id }) => to('/semantic-data-models/$semanticDataModelId', { semanticDataModelId: id }),
  });
