import { useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { listPolling, perform, useAction, useOperation, usePermission } from '../../api/index.ts';
import type { PublicSemanticDataModel } from '../../api/types.gen.ts';
import { DetailPage, PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { useUrlState } from '../../routing/url-state.ts';
import { pages } from '../../text/en/pages.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import { Button, ButtonLink, Callout, Link, permissionReason, Skeleton } from '../../ui/index.ts';
import css from './ModelView.module.css';
import { ModelView } from './ModelView.tsx';
import { modelOf } from './model.ts';
import { Problems } from './Problems.tsx';
import { QueriesTab } from './QueriesTab.tsx';
import type { semanticDataModelSearch } from './search.ts';
import { StateSentence } from './sentences.tsx';

const AskTab = lazy(() => import('./AskTab.tsx').then(({ AskTab }) => ({ default: AskTab })));
// The reader of YAML is as large as the rest of the page, and most visits do not need it.
const TextTab = lazy(() => import('./TextTab.tsx').then(({ TextTab }) => ({ default: TextTab })));

const ModelTab = ({ model }: { model: PublicSemanticDataModel }) => {
  const { href } = useUrlState<ReturnType<typeof semanticDataModelSearch>>();
  const { errors, warnings } = model.validation;
  return (
    <>
      {errors.length + warnings.length > 0 && (
        <Problems
          issues={[...errors, ...warnings]}
          placeOf={({ path }) => (
            <ButtonLink small kind="quiet" href={href({ tab: 'document', at: path })}>
              {words.showInText}
            </ButtonLink>
          )}
        />
      )}
      <ModelView model={modelOf(model)} />
    </>
  );
};

const AgentLink = ({ id }: { id: string }) => {
  const { data } = useOperation('getAgent', { agent_id: id }, { staleTime: 60_000 });
  return <Link href={to('/agents/$agentId', { agentId: id }, { tab: 'tools' })}>{data?.name ?? id}</Link>;
};

const Users = ({ agentIds }: { agentIds: unknown }) => {
  if (!Array.isArray(agentIds) || agentIds.length === 0) return null;
  return (
    <>
      <p>{words.deleteUsed(agentIds.length)}</p>
      <ul className={css.problems}>
        {agentIds.map(String).map((id) => (
          <li key={id}>
            <AgentLink id={id} />
          </li>
        ))}
      </ul>
    </>
  );
};

export const SemanticDataModelPage = () => {
  const { semanticDataModelId } = useParams({ from: '/shell/semantic-data-models/$semanticDataModelId' });
  const params = { semantic_data_model_id: semanticDataModelId };
  const got = useOperation('getSemanticDataModel', params, { every: listPolling(false) });
  const mayValidate = permissionReason(usePermission('validateSemanticDataModel'));
  const mayChange = permissionReason(usePermission('replaceSemanticDataModel'));
  const validate = useAction(
    async (deep: boolean) => (await perform('validateSemanticDataModel', params, { body: { deep } })).body,
  );
  return (
    <DetailPage
      got={got}
      operation="getSemanticDataModel"
      kind={pages.semanticDataModel}
      name={({ name }) => name}
      list={{ label: pages.semanticDataModels, href: to('/semantic-data-models') }}
      id={semanticDataModelId}
      lead={(model) => <StateSentence model={model} />}
      removal={{
        operation: 'deleteSemanticDataModel',
        params,
        words,
        text: (_model, refusal) => (
          <>
            <p>{words.deleteText}</p>
            <Users agentIds={refusal?.fields.agent_ids} />
          </>
        ),
      }}
      actions={() => (
        <>
          <Button
            title={words.deepHint}
            busy={validate.busy}
            disabledReason={mayValidate}
            onClick={() => void validate.run(true)}
          >
            {words.deep}
          </Button>
          <Button
            kind="primary"
            busy={validate.busy}
            disabledReason={mayValidate}
            onClick={() => void validate.run(false)}
          >
            {words.validate}
          </Button>
        </>
      )}
      problem={validate.error}
      above={
        validate.result?.issues.length === 0 && (
          <div role="status">
            <Callout tone="good" title={words.noProblems} />
          </div>
        )
      }
    >
      {(model) => (
        <PageTabs
          label={pages.semanticDataModel}
          words={words.tabs}
          counts={{ queries: model.verified_queries.length }}
          tabs={{
            model: () => <ModelTab model={model} />,
            document: () => (
              <Suspense fallback={<Skeleton />}>
                <TextTab model={model} etag={got.etag} disabledReason={mayChange} />
              </Suspense>
            ),
            queries: () => <QueriesTab model={model} />,
            ask: () => (
              <Suspense fallback={<Skeleton />}>
                <AskTab model={model} etag={got.etag} mayKeep={mayChange} />
              </Suspense>
            ),
          }}
        />
      )}
    </DetailPage>
  );
};
