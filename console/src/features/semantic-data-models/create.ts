import { useNavigate } from '@tanstack/react-router';
import { request, useIdempotencyKey, useInvalidate } from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { notify } from '../../ui/index.ts';

/** Returns a function that creates a model by a POST to `path`, and leads to its page. */
export const useCreate = () => {
  const navigate = useNavigate();
  const invalidate = useInvalidate();
  const keyOf = useIdempotencyKey();
  return async (path: string, body: object): Promise<void> => {
    const { body: created } = await request<PublicSemanticDataModel>('POST', path, {
      body,
      idempotencyKey: keyOf(body),
    });
    notify(words.created);
    await invalidate('/api/v2/semantic-data-models');
    await navigate({ to: to.semanticDataModel(created.id) });
  };
};
