import { useState } from 'react';
import { PageTabs } from '../../resource/index.ts';
import { evaluations as words } from '../../text/en/evaluations.ts';
import { pages } from '../../text/en/pages.ts';
import { Button, Page, useDisabledReason } from '../../ui/index.ts';
import { DatasetsTab } from './DatasetsTab.tsx';
import { ExperimentsList } from './ExperimentsList.tsx';
import { JudgesTab } from './JudgesTab.tsx';
import { NewDatasetDialog } from './NewDatasetDialog.tsx';
import { NewExperimentDialog } from './NewExperimentDialog.tsx';

export const EvaluationsPage = () => {
  const [open, setOpen] = useState<'dataset' | 'experiment' | null>(null);
  const close = () => setOpen(null);
  return (
    <Page
      title={pages.evaluations}
      lead={words.lead}
      actions={
        <>
          <Button
            disabledReason={useDisabledReason('createExperiment')}
            onClick={() => setOpen('experiment')}
          >
            {words.newExperiment}
          </Button>
          <Button
            kind="primary"
            disabledReason={useDisabledReason('createDataset')}
            onClick={() => setOpen('dataset')}
          >
            {words.newDataset}
          </Button>
        </>
      }
    >
      <PageTabs
        label={pages.evaluations}
        words={words.tabs}
        tabs={{
          datasets: () => <DatasetsTab />,
          experiments: () => <ExperimentsList />,
          judges: () => <JudgesTab />,
        }}
      />
      {open === 'dataset' && <NewDatasetDialog onClose={close} />}
      {open === 'experiment' && <NewExperimentDialog onClose={close} />}
    </Page>
  );
};
