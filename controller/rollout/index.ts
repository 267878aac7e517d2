export { setCourse, type Course } from './course.ts';
export { historyText, parseHistory, stabilised, type History, type Refused } from './history.ts';
export type { Member, MemberHealth, Observation } from './member.ts';
export { restartRequest } from './restart-request.ts';
export { shrink } from './shrink.ts';
export { stepWith, type Action, type Step } from './step.ts';
export { askedAgain, patientUntil, type Switchover } from './switchover.ts';
