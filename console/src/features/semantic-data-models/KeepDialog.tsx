import { useState } from 'react';
import { perform, useAction, useUnsaved } from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { ActionDialog, Checkbox, CodeBlock, notify, Textarea, TextField } from '../../ui/index.ts';
import { bodyOf } from './model.ts';
import { codeOf } from './QueriesTab.tsx';

/** Keeps a question with what answered it, so that the same question gets the same answer. */
export const KeepDialog = ({
  model,
  etag,
  question: asked,
  kept,
  onClose,
}: {
  model: PublicSemanticDataModel;
  etag: string | null;
  question: string;
  kept: { sql: string } | { query: Record<string, unknown> };
  onClose: () => void;
}) => {
  const [name, setName] = useState('');
  const [question, setQuestion] = useState(asked);
  const [onboarding, setOnboarding] = useState(false);
  const action = useAction(async () => {
    const body = bodyOf(model);
    const added = { name, question, ...kept, use_as_onboarding_question: onboarding };
    await perform(
      'replaceSemanticDataModel',
      { semantic_data_model_id: model.id },
      {
        body: { ...body, verified_queries: [...body.verified_queries, added] },
        ifMatch: etag,
      },
    );
    notify(words.kept);
    onClose();
  });
  useUnsaved(() => (name !== '' || question !== asked) && !action.busy);
  return (
    <ActionDialog
      open
      onClose={onClose}
      title={words.keep}
      onConfirm={() => void action.run()}
      busy={action.busy}
      error={action.error}
    >
      <TextField label={words.keepName} value={name} onChange={setName} autoFocus required />
      <Textarea label={words.question} value={question} onChange={setQuestion} rows={2} required />
      <Checkbox label={words.suggest} value={onboarding} onChange={setOnboarding} />
      <CodeBlock code={codeOf(kept)} label={words.query} />
    </ActionDialog>
  );
};
