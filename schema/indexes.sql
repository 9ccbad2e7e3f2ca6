-- Built after the rows are in: one at a time costs a third of keeping them live during the load.
CREATE UNIQUE INDEX string_value ON string (value);
CREATE INDEX kernel_launch ON kernel (launch_id) WHERE launch_id IS NOT NULL;
CREATE INDEX runtime_call_correlation ON runtime_call (correlation) WHERE correlation IS NOT NULL;
