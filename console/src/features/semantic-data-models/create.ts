import type { Form } from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useCreateForm } from '../../resource/index.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';

/** A form that creates a model by a POST to `post`, and leads to its page. */
export const useModelForm = <V extends object>(
  post: string,
  first: V,
  toBody: (values: V) => object,
  disabledReason: string | null,
): Form<V> =>
  useCreateForm<PublicSemanticDataModel, V>({
    first,
    post,
    toBody,
    disabledReason,
    invalidates: ['/api/v2/semantic-data-models'],
    created: words.created,
    opens: ({ id }) => to.semanticDataModel(id),
  });
