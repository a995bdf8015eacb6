import { useEffect, useEffectEvent, useState } from 'react';
import {
  type ApiProblem,
  type Output,
  perform,
  useAction,
  usePermission,
  useUnsaved,
} from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import {
  Bar,
  Button,
  Callout,
  Form,
  optionsOf,
  Problem,
  permissionReason,
  Section,
  Segmented,
  Textarea,
} from '../../ui/index.ts';
import { Answer } from './Answer.tsx';
import { KeepDialog } from './KeepDialog.tsx';
import type { semanticDataModelSearch } from './search.ts';

type Kind = keyof typeof words.askKinds;
type Asked = { question: string } | { sql: string } | { verified_query: string };

const kinds = optionsOf(words.askKinds);

const Refusal = ({ error }: { error: ApiProblem }) => {
  const { explanation, suggestions } = error.fields;
  const names = Array.isArray(suggestions) ? suggestions.filter((one) => typeof one === 'string') : [];
  return (
    <>
      <Problem error={error} />
      {(typeof explanation === 'string' || names.length > 0) && (
        <Callout title={typeof explanation === 'string' ? explanation : undefined}>
          {names.length > 0 && `${words.tryInstead} ${names.join(', ')}`}
        </Callout>
      )}
    </>
  );
};

/** Asks the model in words or in SQL, and shows the rows and the SQL that ran. A good answer can be kept. */
export const AskTab = ({
  model,
  etag,
  mayKeep,
}: {
  model: PublicSemanticDataModel;
  etag: string | null;
  mayKeep: string | null;
}) => {
  const { search, replace } = useUrlState<ReturnType<typeof semanticDataModelSearch>>();
  const refused = permissionReason(usePermission('querySemanticDataModel'));
  const [kind, setKind] = useState<Kind>('question');
  const [texts, setTexts] = useState({ question: '', sql: '' });
  const [sentSql, setSentSql] = useState('');
  // A statement takes work; a question is a line.
  useUnsaved(() => texts.sql !== sentSql);
  const [asked, setAsked] = useState('');
  const [answer, setAnswer] = useState<Output<'querySemanticDataModel'> | null>(null);
  const [keeping, setKeeping] = useState(false);
  const ask = useAction(async (body: Asked) => {
    setAnswer(null);
    setAsked('question' in body ? body.question : '');
    if ('sql' in body) setSentSql(body.sql);
    const params = { semantic_data_model_id: model.id };
    // A model writes the SQL, tries again after its errors, and the database runs it.
    const input = { body: { ...body, limit: 1_000 }, limit: 300_000 };
    setAnswer((await perform('querySemanticDataModel', params, input)).body);
  });
  // A link of a verified query runs it, once.
  const runLinked = useEffectEvent((name: string) => {
    replace({ ask: undefined });
    const query = model.verified_queries.find((one) => one.name === name);
    if (query) setTexts({ ...texts, question: query.question });
    if (!refused) void ask.run({ verified_query: name });
  });
  const linked = search.ask;
  useEffect(() => {
    if (linked !== undefined) runLinked(linked);
  }, [linked]);
  const suggested = model.verified_queries.filter((query) => query.use_as_onboarding_question);
  const send = () => {
    if (texts[kind].trim() !== '') void ask.run({ [kind]: texts[kind] } as Asked);
  };
  return (
    <>
      <Section label={words.tabs.ask}>
        <Form
          onSubmit={send}
          actions={
            <Button type="submit" busy={ask.busy} disabledReason={refused}>
              {words.ask}
            </Button>
          }
        >
          <Segmented label={words.askBy} value={kind} options={kinds} onChange={setKind} />
          <Textarea
            key={kind}
            label={kind === 'sql' ? words.sql : words.question}
            hint={kind === 'sql' ? words.sqlHint : words.questionHint}
            rows={kind === 'sql' ? 6 : 2}
            mono={kind === 'sql'}
            value={texts[kind]}
            onChange={(text) => setTexts({ ...texts, [kind]: text })}
            onEnter={kind === 'question' ? send : undefined}
          />
          {kind === 'question' && suggested.length > 0 && (
            <Bar>
              {suggested.slice(0, 6).map(({ name, question }) => (
                <Button
                  key={name}
                  small
                  onClick={() => {
                    setTexts({ ...texts, question });
                    void ask.run({ question });
                  }}
                >
                  {question}
                </Button>
              ))}
            </Bar>
          )}
          {ask.error && <Refusal error={ask.error} />}
        </Form>
      </Section>
      {answer && (
        <Answer
          answer={answer}
          actions={
            answer.verified_query === null && (
              <Button small disabledReason={mayKeep} onClick={() => setKeeping(true)}>
                {words.keep}
              </Button>
            )
          }
        />
      )}
      {answer && keeping && (
        <KeepDialog
          model={model}
          etag={etag}
          question={asked}
          kept={answer.query ? { query: answer.query } : { sql: texts.sql }}
          onClose={() => setKeeping(false)}
        />
      )}
    </>
  );
};
