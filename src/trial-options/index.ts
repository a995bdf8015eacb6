export {
  caseGraders,
  datasetGraders,
  type Grader,
  type GraderOf,
  graderSchema,
  gradersOfTrial,
  judgeLlms,
  shownGrader,
} from './graders.ts';
export { shownModes, tagList, trialModes } from './modes.ts';
