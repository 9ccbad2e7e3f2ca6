-- Columns of tables that C++ fills, in the words of those of reports (schema/reports).

-- table: recipes
-- sql --recipes: a row for each query of the cookbook.
-- column: recipe | Recipe | text |  |  |
-- column: question | Question | text |  | 8 wrapped |
-- column: parameters | Parameters | text |  | 8 wrapped |

-- table: rules_check
-- rules check: a row for each rule that is not used as it stands.
-- column: state | State | text |  |  |
-- column: rule | Rule | text |  |  |
-- column: by | Decided By | text |  |  |
-- column: names | Names | count | sum |  |
-- column: decided | Decided | count | sum |  |
-- column: source | Source | text |  |  |

-- table: rules_explain
-- rules explain: a row for each name.
-- column: class | Class | text |  |  |
-- column: rule | Rule | text |  |  |
-- column: evidence | Evidence | text |  |  |
-- column: pattern | Pattern | text |  |  |
-- column: function | Function | text |  |  |
-- column: name | Name | text |  |  |

-- table: rules_list
-- rules list: a row for each rule.
-- column: rule | Rule | text | label |  |
-- column: class | Class | text |  |  |
-- column: condition | Condition | text |  | 8 wrapped |
-- column: source | Source | text |  |  |

-- table: schema
-- schema: a row for each object, and for each of its columns.
-- column: type | Type | text |  |  |
-- column: object | Object | text |  |  |
-- column: column | Column | text |  |  |
-- column: data_type | Data Type | text |  |  |
-- column: unit | Unit | text |  |  |
-- column: comment | Comment | text |  | 8 wrapped |

-- table: sentences
-- What a command says to people, with the figures of each sentence.
-- column: about | About | text | label |  | the candidate, job, series or trace it is about
-- column: id | Sentence | text |  |  | what kind of sentence it is: compare.headline
-- column: text | Text | text |  | 8 wrapped | as people read it
-- column: figures | Figures | json |  | 8 wrapped | its figures by name, as an object: times in ns, shares as parts of 1; clause.figure of clauses

-- table: verify
-- verify: a row for each check.
-- column: check | Check | text | label |  | what was checked
-- column: outcome | Outcome | text |  |  | passed, FAILED or not checked
-- column: detail | Detail | text |  | 8 wrapped | what was found
