import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import {
  listPolling,
  path,
  request,
  useAction,
  useGet,
  useInvalidate,
  usePermission,
} from '../../api/index.ts';
import type { PublicSemanticDataModel, SemanticDataModelValidation } from '../../api/types.gen.ts';
import { to } from '../../app/addresses.ts';
import { useUrlState } from '../../app/url-state.ts';
import { common } from '../../text/en/common.ts';
import { pages } from '../../text/en/pages.ts';
import { semanticDataModels as words } from '../../text/en/semantic-data-models.ts';
import {
  Button,
  ButtonLink,
  Loaded,
  Page,
  Problem,
  permissionReason,
  Say,
  Skeleton,
  Tabs,
} from '../../ui/index.ts';
import { AskTab } from './AskTab.tsx';
import { DeleteModelDialog } from './DeleteModelDialog.tsx';
import { ModelView } from './ModelView.tsx';
import { modelOf } from './model.ts';
import { Problems } from './Problems.tsx';
import { QueriesTab } from './QueriesTab.tsx';
import { modelTabs, type semanticDataModelSearch } from './search.ts';
import { StateSentence } from './sentences.tsx';

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

/** One semantic data model: to read, as YAML, its verified queries, and to ask. */
export const SemanticDataModelPage = () => {
  const { semanticDataModelId = '' } = useParams({ strict: false }) as { semanticDataModelId?: string };
  const { search } = useUrlState<ReturnType<typeof semanticDataModelSearch>>();
  const tab = search.tab ?? 'model';
  const invalidate = useInvalidate();
  const address = path`/api/v2/semantic-data-models/${semanticDataModelId}`;
  const got = useGet<PublicSemanticDataModel>(address, { every: listPolling(false) });
  const { data } = got;
  const mayValidate = permissionReason(usePermission('validateSemanticDataModel'));
  const mayChange = permissionReason(usePermission('replaceSemanticDataModel'));
  const mayDelete = permissionReason(usePermission('deleteSemanticDataModel'));
  const [deleting, setDeleting] = useState(false);
  const [clean, setClean] = useState(false);
  const validate = useAction(async (deep: boolean) => {
    setClean(false);
    const { body } = await request<SemanticDataModelValidation>('POST', `${address}/validate`, {
      body: { deep },
    });
    setClean(body.issues.length === 0);
    await invalidate('/api/v2/semantic-data-models');
  });
  return (
    <Page
      title={data?.name ?? pages.semanticDataModel}
      crumbs={[{ label: pages.semanticDataModels, href: to.semanticDataModels() }]}
      lead={data && <StateSentence model={data} />}
      actions={
        data && (
          <>
            <Button kind="quiet-danger" disabledReason={mayDelete} onClick={() => setDeleting(true)}>
              {common.delete}
            </Button>
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
        )
      }
    >
      {validate.error && <Problem error={validate.error} />}
      {clean && (
        <div role="status">
          <Say tone="good" title={words.noProblems} />
        </div>
      )}
      <Loaded
        got={got}
        operation="getSemanticDataModel"
        list={{ label: pages.semanticDataModels, href: to.semanticDataModels() }}
        audit={to.audit({ target_id: semanticDataModelId })}
      >
        {(model) => (
          <Tabs
            label={pages.semanticDataModel}
            value={tab}
            tabs={modelTabs.map((value) => ({
              value,
              label: words.tabs[value],
              href: to.semanticDataModel(semanticDataModelId, value === 'model' ? {} : { tab: value }),
              count: value === 'queries' ? model.verified_queries.length : undefined,
            }))}
          >
            {tab === 'model' && <ModelTab model={model} />}
            {tab === 'document' && (
              <Suspense fallback={<Skeleton />}>
                <TextTab model={model} etag={got.etag} disabledReason={mayChange} />
              </Suspense>
            )}
            {tab === 'queries' && <QueriesTab model={model} />}
            {tab === 'ask' && <AskTab model={model} etag={got.etag} mayKeep={mayChange} />}
          </Tabs>
        )}
      </Loaded>
      {data && deleting && (
        <DeleteModelDialog model={data} etag={got.etag} onClose={() => setDeleting(false)} />
      )}
    </Page>
  );
};
