import { readOf } from '../../api/operations.ts';
import { page } from '../../routing/page.ts';
import { noSearch } from '../../routing/search.ts';
import { compareSearch, datasetSearch, evaluationsSearch, experimentSearch, labelSearch } from './search.ts';

export const evaluationsPages = [
  page({
    path: '/evaluations',
    search: evaluationsSearch,
    operation: 'listDatasets',
    component: [() => import('./EvaluationsPage.tsx'), 'EvaluationsPage'],
  }),
  page({
    path: '/evaluations/datasets/$datasetId',
    search: datasetSearch,
    operation: 'getDataset',
    first: ({ params: { datasetId } }) => [readOf('getDataset', { dataset_id: datasetId })],
    component: [() => import('./DatasetPage.tsx'), 'DatasetPage'],
  }),
  page({
    path: '/evaluations/datasets/$datasetId/cases/$caseId',
    search: noSearch,
    operation: 'getCase',
    first: ({ params: { datasetId, caseId } }) => [
      readOf('getCase', { dataset_id: datasetId, case_id: caseId }),
      readOf('getDataset', { dataset_id: datasetId }),
    ],
    component: [() => import('./CasePage.tsx'), 'CasePage'],
  }),
  page({
    path: '/evaluations/experiments/$experimentId',
    search: experimentSearch,
    operation: 'getNamedExperiment',
    first: ({ params: { experimentId } }) => [readOf('getNamedExperiment', { experiment_id: experimentId })],
    component: [() => import('./ExperimentPage.tsx'), 'ExperimentPage'],
  }),
  page({
    path: '/evaluations/experiments/$experimentId/trials/$trialId',
    search: noSearch,
    operation: 'getTrialDetail',
    first: ({ params: { experimentId, trialId } }) => [
      readOf('getTrialDetail', { experiment_id: experimentId, trial_id: trialId }),
    ],
    component: [() => import('./TrialPage.tsx'), 'TrialPage'],
  }),
  page({
    path: '/evaluations/compare',
    search: compareSearch,
    operation: 'compareExperiments',
    component: [() => import('./ComparePage.tsx'), 'ComparePage'],
  }),
  page({
    path: '/evaluations/label',
    search: labelSearch,
    operation: 'labelTrial',
    component: [() => import('./LabelPage.tsx'), 'LabelPage'],
  }),
] as const;
