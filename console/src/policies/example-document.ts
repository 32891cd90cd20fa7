/** The initial document, which allows to read one bucket. */
export const exampleDocument = JSON.stringify(
  {
    Version: '2012-10-17',
    Statement: [
      { Effect: 'Allow', Action: ['s3:ListBucket'], Resource: ['arn:aws:s3:::my-bucket'] },
      { Effect: 'Allow', Action: ['s3:GetObject'], Resource: ['arn:aws:s3:::my-bucket/*'] },
    ],
  },
  null,
  2,
);
