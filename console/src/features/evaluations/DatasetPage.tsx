import { useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { addressOf, listPolling, useOperation } from '../../api/index.ts';
import { DetailPage, PageTabs } from '../../resource/index.ts';
import { to } from '../../routing/to.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, downloadFrom, Skeleton, useDisabledReason } from '../../ui/index.ts';
import { CasesTab } from './CasesTab.tsx';
import { ExperimentsList } from './ExperimentsList.tsx';
import { ImportCasesDialog } from './ImportCasesDialog.tsx';
import { NewCaseDialog } from './NewCaseDialog.tsx';
import { NewExperimentDialog } from './NewExperimentDialog.tsx';

// A form of many fields, which the first tab does without.
const GradersTab = lazy(() => import('./GradersTab.tsx').then(({ GradersTab }) => ({ default: GradersTab })));

export const DatasetPage = () => {
  const { datasetId } = useParams({ from: '/shell/evaluations/datasets/$datasetId' });
  const params = { dataset_id: datasetId };
  const got = useOperation('getDataset', params, { every: listPolling(false) });
  const [open, setOpen] = useState<'case' | 'import' | 'run' | null>(null);
  const close = () => setOpen(null);
  const mayCreate = useDisabledReason('createCase');
  const mayRun = useDisabledReason('createExperiment');
  return (
    <DetailPage
      got={got}
      operation="getDataset"
      kind={words.dataset}
      name={({ name }) => name}
      list={{ label: pages.evaluations, href: to('/evaluations') }}
      id={datasetId}
      lead={({ case_count, mode, description }) => (
        <>
          {words.datasetLead(case_count, words.modes[mode])} {description}
        </>
      )}
      removal={{
        operation: 'deleteDataset',
        params,
        words: { deleteTitle: words.deleteDataset, deleted: words.datasetDeleted },
        text: () => <p>{words.deleteDatasetText}</p>,
      }}
      actions={(dataset) => (
        <>
          <Button kind="quiet" onClick={() => downloadFrom(addressOf('exportCases', params))}>
            {words.export}
          </Button>
          <Button disabledReason={mayCreate} onClick={() => setOpen('import')}>
            {words.import}
          </Button>
          <Button disabledReason={mayCreate} onClick={() => setOpen('case')}>
            {words.newCase}
          </Button>
          <Button kind="primary" disabledReason={mayRun} onClick={() => setOpen('run')}>
            {words.runExperiment}
          </Button>
          {open === 'case' && <NewCaseDialog datasetId={datasetId} onClose={close} />}
          {open === 'import' && <ImportCasesDialog datasetId={datasetId} onClose={close} />}
          {open === 'run' && <NewExperimentDialog dataset={dataset} onClose={close} />}
        </>
      )}
    >
      {(dataset) => (
        <PageTabs
          label={words.dataset}
          words={words.datasetTabs}
          counts={{ cases: dataset.case_count, graders: dataset.graders.length }}
          tabs={{
            cases: () => <CasesTab dataset={dataset} />,
            graders: () => (
              <Suspense fallback={<Skeleton rows={6} height={60} />}>
                <GradersTab dataset={dataset} etag={got.etag} />
              </Suspense>
            ),
            experiments: () => <ExperimentsList datasetId={datasetId} />,
          }}
        />
      )}
    </DetailPage>
  );
};
